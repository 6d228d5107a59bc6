const Module = require('node:module')
const { builtOf } = require('./place.cjs')

// What is required as TypeScript (a test file, by ava) is what the build made of it: a module, for which ava waits.
Module._extensions['.ts'] = (module, source) => {
  module.exports = import(builtOf(source))
}
