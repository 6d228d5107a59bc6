const { tmpdir } = require('node:os')
const { join, relative, resolve } = require('node:path')

const root = resolve(__dirname, '..', '..')
const built = join(root, 'node_modules', '.cache', 'plinth', 'built')

exports.root = root
exports.built = built
/** What the build makes of a source file: `core/a.ts`, `core/a.js`. */
exports.builtOf = source => join(built, relative(root, source).replace(/\.ts$/, '.js'))
/** The file in which a process records the stack of its blocked event loop. */
exports.blockedAt = pid => join(tmpdir(), `plinth-blocked-${pid}`)
