import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRouter, type StrapiRouter } from './read-router.ts'
import type { OwnCode, StrapiProject } from './strapi-project.ts'

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
export async function findOwnCode(
  folder: string,
  files: readonly string[],
): Promise<Pick<StrapiProject, 'ownCode' | 'routers'>> {
  const ownCode: OwnCode[] = []
  const routers: StrapiRouter[] = []
  for (const file of files) {
    const code = CODE.test(file) && !file.endsWith('.d.ts') ? toOwnCode(file) : undefined
    if (code === undefined) continue
    const source = await readFile(join(folder, file), 'utf8')
    const router = code.kind === 'route' ? readRouter(source) : undefined
    if (router !== undefined) routers.push(router)
    else if (!isGenerated(source)) ownCode.push(code)
  }
  return { ownCode, routers }
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
