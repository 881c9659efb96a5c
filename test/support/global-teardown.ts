// Stops the Redis server of the test run.
export default async function teardown(): Promise<void> {
  await globalThis.localRedis?.stop();
}
