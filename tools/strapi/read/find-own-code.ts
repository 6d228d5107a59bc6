import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readRouter, type StrapiRouter } from './read-router.ts'
import type { OwnCode, StrapiProject } from './strapi-project.ts'
import { endOfComment } from './tokens.ts'

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
  // What the generator writes is short.
  if (source.length > LONGEST_GENERATED) return false
  const text = withoutComments(source).replace(/\s+/g, ' ').trim()
  return text === '' || isFactory(text) || isIdle(text)
}

const LONGEST_GENERATED = 10_000

function withoutComments(source: string): string {
  let kept = ''
  for (let at = 0; at < source.length; ) {
    const end = endOfComment(source, at)
    if (end === undefined) kept += source.charAt(at++)
    else at = end
  }
  return kept
}

/** The text ends in `createCoreX('…')`. */
function isFactory(text: string): boolean {
  const call = text.slice(text.lastIndexOf('createCore'))
  return /^createCore(?:Controller|Service|Router)(?:<[^>]*>)?\( ?['"][^'"]+['"],? ?\) ?;?$/.test(call)
}

/** The text ends in an object whose methods `register`, `bootstrap` and `destroy` do nothing. */
function isIdle(text: string): boolean {
  const exported = /(?:module\.exports =|export default) \{ /.exec(text)
  if (!exported) return false
  const methods = withoutBrackets(text.slice(exported.index + exported[0].length)).split(',')
  const end = methods.pop() ?? ''
  return methods.length > 0 && /^ ?\};?$/.test(end) && methods.every(each => IDLE_METHOD.test(each.trim()))
}

/** Parameters, whose types may have brackets of their own. */
const withoutBrackets = (text: string): string => text.replace(/\([^()]*\)/g, '').replace(/\([^()]*\)/g, '')

const IDLE_METHOD = /^(?:async )?(?:register|bootstrap|destroy)(?:: [\w<>]+)? \{ ?\}$/
