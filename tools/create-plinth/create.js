#!/usr/bin/env node
// `npm create plinth my-api` is `plinth init my-api`.
process.argv.splice(2, 0, 'init')
await import(new URL('bin/plinth.js', import.meta.resolve('plinth/package.json')).href)
