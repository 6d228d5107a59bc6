import { syncBuiltinESMExports } from 'node:module'
import type { ExecutionContext } from 'ava'

/** Replaces functions of a module of Node, for every module that imports it, until the end of the test, or until the returned function is called. */
export function replaceFunctions<Module extends object>(
  t: Pick<ExecutionContext, 'teardown'>,
  module: Module,
  functions: Partial<Module>,
): () => void {
  const own = Object.fromEntries(
    Object.keys(functions).map(name => [name, module[name as keyof Module]] as const),
  )
  const set = (values: object) => {
    Object.assign(module, values)
    syncBuiltinESMExports()
  }
  const restore = () => set(own)
  t.teardown(restore)
  set(functions)
  return restore
}
