/** Tests on the embedded database run one after another: each then takes over the engine that the one before it leaves. */
export default {
  // tests/server: suites that need a PostgreSQL server.
  files: ['tests/**/*.test.ts', ...(process.env.TEST_DATABASE_URL ? [] : ['!tests/server/**'])],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  timeout: '4m',
  workerThreads: false,
  concurrency: 2,
  serial: !process.env.TEST_DATABASE_URL,
}
