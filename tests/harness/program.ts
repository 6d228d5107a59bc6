import { fileURLToPath } from 'node:url'

/** The compiled file that runs in place of a source file such as `tests/a.ts`. */
export const builtFile = (source: string): string =>
  fileURLToPath(import.meta.resolve(`../../${source.replace(/\.ts$/, '.js')}`))

/** The same flags as in ava.config.js: these processes run for seconds. */
const FEWER_OPTIMISED = '--liftoff-only'

/** Arguments of Node that run a source file in a process of its own. */
export const program = (source: string): readonly string[] => [FEWER_OPTIMISED, builtFile(source)]

/** The arguments of the command line. */
export const PLINTH = program('tools/cli/main.ts')
