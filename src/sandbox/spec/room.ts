// `GET /api/v1/spec`, for any valid caller (contract 4.9).
import { Router } from 'express';
import { answer } from '../call.ts';
import type { Family, Room } from '../family.ts';
import type { World } from '../world.ts';
import { toDocument } from './document.ts';
import { servedOperations } from './served.ts';

/** `families` are asked when the document is, because this room is in one of them. */
export function createSpecRoom(world: World, families: () => readonly Family[]): Room {
  const router = Router({ caseSensitive: true });
  router.get(
    '/spec',
    answer(world, (call) => ({
      status: 200,
      body: toDocument(servedOperations(families()), call.platformUrl),
    })),
  );
  return { mount: '/api/v1', router };
}
