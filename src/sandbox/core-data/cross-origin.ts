// Lets browsers of any origin call the data API: answers preflights without a token, and adds
// `Access-Control-Allow-Origin` to every answer.
import type { RequestHandler } from 'express';

const PREFLIGHT = {
  'Access-Control-Allow-Headers': 'authorization,content-type,x-request-id',
  'Access-Control-Allow-Methods': 'GET,HEAD,PUT,PATCH,POST,DELETE',
};

export const allowOrigins: RequestHandler = (request, response, next) => {
  response.setHeader('Access-Control-Allow-Origin', '*');
  if (request.method === 'OPTIONS') response.writeHead(204, PREFLIGHT).end();
  else next();
};
