// Serves the metrics endpoint for Prometheus.
import express, { type Router } from 'express';

/** @param scrape returns the metrics as text in UTF-8; an error fails the scrape with 500 */
export function createMetricsRouter(contentType: string, scrape: () => Promise<Buffer>): Router {
  const router = express.Router();
  router.get('/metrics', async (_request, response) => {
    const text = await scrape();
    response.writeHead(200, { 'Content-Type': contentType }).end(text);
  });
  return router;
}
