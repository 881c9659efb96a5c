export async function runDemo(_options: { keep: boolean; env: NodeJS.ProcessEnv }): Promise<number> { return 0; }
