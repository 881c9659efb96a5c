// Counts orders by country. Reads DATA_API_URL and DATA_API_TOKEN, a token that the deployment's secret signed.
import { createCoreDataClient } from '@scim-bridge/platform-client';

const data = createCoreDataClient({
  url: process.env['DATA_API_URL'] ?? '',
  token: process.env['DATA_API_TOKEN'] ?? '',
  allowLoopbackHttp: true,
});

const { rows } = await data.load({ measures: ['orders.count'], dimensions: ['orders.country'] });
for (const row of rows) console.log(row['orders.country'], row['orders.count']);
await data.close();
