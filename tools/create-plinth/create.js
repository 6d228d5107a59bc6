#!/usr/bin/env node
// `npm create plinth my-api` is `plinth init my-api`.
process.argv.splice(2, 0, 'init')
// npm takes the `--` of `npm create plinth my-api -- --template blog` away; npx and pnpm pass it on.
const dashes = process.argv.indexOf('--')
if (dashes !== -1) process.argv.splice(dashes, 1)
await import(new URL('bin/plinth.js', import.meta.resolve('plinth/package.json')).href)
