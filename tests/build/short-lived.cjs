const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')

// Required by each process of `npm test` and by the commands and servers that tests start: they live for seconds or minutes, in
// which optimized code takes more processor time to compile than it saves. Processes that run many files optimize what is used
// most; what they start runs for seconds, so its WebAssembly is not optimized at all.

// Later versions do not have it, and say so on the standard error of each process.
if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000')
const runsFiles = process.argv[1] === join(__dirname, 'worker.js')
setFlagsFromString(runsFiles ? '--wasm-tiering-budget=40000000' : '--liftoff-only')
