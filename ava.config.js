/** Tests on the embedded database run one after another: each then takes over the engine that the one before it leaves. */
export default {
  files: ['tests/**/*.test.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  timeout: '4m',
  workerThreads: false,
  concurrency: 2,
  serial: !process.env.TEST_DATABASE_URL,
}
