import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnCode } from './strapi-project.ts'

const CODE = /\.(?:[cm]?[jt]s)$/

const KINDS: readonly (readonly [RegExp, OwnCode['kind']])[] = [
  [/^src\/api\/([^/]+)\/controllers\//, 'controller'],
  [/^src\/api\/([^/]+)\/services\//, 'service'],
  [/^src\/api\/([^/]+)\/routes\//, 'route'],
  [/^src\/(?:api\/([^/]+)\/)?policies\//, 'policy'],
  [/^src\/(?:api\/([^/]+)\/)?middlewares\//, 'middleware'],
  [/^src\/api\/([^/]+)\/content-types\/[^/]+\/lifecycles\./, 'lifecycle'],
  [/^src\/index\./, 'index'],
  [/^src\/extensions\/.*strapi-(?:server|admin)\./, 'extension'],
  [/^src\/plugins\/[^/]+\/(?:strapi-server|server\/(?:src\/)?index)\./, 'plugin'],
  [/^config\/cron-tasks\./, 'cron'],
]

/** The files of a project that do something of their own: what Strapi's generator writes does not count. */
export async function findOwnCode(folder: string, files: readonly string[]): Promise<readonly OwnCode[]> {
  const found: OwnCode[] = []
  for (const file of files) {
    if (!CODE.test(file) || file.endsWith('.d.ts')) continue
    const code = toOwnCode(file)
    if (code !== undefined && !isGenerated(await readFile(join(folder, file), 'utf8'))) found.push(code)
  }
  return found
}

function toOwnCode(file: string): OwnCode | undefined {
  for (const [pattern, kind] of KINDS) {
    const match = pattern.exec(file)
    if (match !== null) return { kind, file, ...(match[1] !== undefined && { api: match[1] }) }
  }
  return undefined
}

/** `factories.createCoreController('api::x.x')` and its like, and a `src/index` whose functions are empty. */
function isGenerated(source: string): boolean {
  const text = source.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '').replace(/\s+/g, ' ')
  const isFactory =
    /createCore(?:Controller|Service|Router)(?:<[^>]*>)?\(\s*['"][^'"]+['"],?\s*\)\s*;?\s*$/.test(text)
  const isIdle =
    /(?:module\.exports =|export default) \{(?: (?:async )?(?:register|bootstrap|destroy)\((?:[^()]|\([^()]*\))*\)(?:: [\w<>]+)? \{ ?\},?)+ \};? ?$/.test(
      text,
    )
  return text.trim() === '' || isFactory || isIdle
}
