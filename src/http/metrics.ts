// The address that Prometheus asks.
import express, { type Router } from 'express';

/** @param scrape collects and renders; what it throws is a bug, and the scrape fails with it */
export function createMetricsRouter(contentType: string, scrape: () => Promise<string>): Router {
  const router = express.Router();
  router.get('/metrics', async (_request, response) => {
    const text = await scrape();
    response.writeHead(200, { 'Content-Type': contentType }).end(text);
  });
  return router;
}
