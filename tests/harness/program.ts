import { fileURLToPath } from 'node:url'

/** What runs in place of a source file such as `tests/a.ts`: what the build of the tests made of it, as of this one. */
export const builtFile = (source: string): string =>
  fileURLToPath(import.meta.resolve(`../../${source.replace(/\.ts$/, '.js')}`))

/** As in ava.config.js: these processes run for seconds. */
const FEWER_OPTIMISED = '--wasm-tiering-budget=100000000'

/** Arguments of Node that run a source file in a process of its own. */
export const program = (source: string): readonly string[] => [FEWER_OPTIMISED, builtFile(source)]

/** Those of the command line. */
export const PLINTH = program('tools/cli/main.ts')
