import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { PACKAGE_ROOT } from '../../../core/base/product.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import { compileModel } from '../../../core/model/compile-model.ts'
import { apiIdOf, type ContentType, type Model } from '../../../core/model/model.ts'
import { loadProject } from '../../../core/project/load-project.ts'
import type { CommandContext } from '../command-options.ts'
import { type AttributeSelection, printComponent, printType, typeBlock, writeGenerated } from './types.ts'
import { printPropertyName, quote } from './types-schema.ts'

export interface ClientRun extends Omit<CommandContext, 'paint'> {
  readonly out: string
  /** Writes nothing; compares the existing file with what would be written. */
  readonly check: boolean
}

/** `plinth client`: writes a typed client. Returns the exit code: 0, or 1 for a fault or if `check` finds a difference. */
export async function runClient({ folder, out, env, ...options }: ClientRun): Promise<0 | 1> {
  const project = await loadProject(folder, env)
  const model = project.ok ? compileModel(project.value) : project
  if (!model.ok) {
    options.writeError(
      `${model.reasons.map(fromWorkingDirectory(folder)).map(printDiagnostic).join('\n\n')}\n`,
    )
    return 1
  }
  const command = `plinth client --out ${out}`
  return writeGenerated({ ...options, file: out, text: await printClient(model.value), command })
}

/** Private attributes and passwords are never answered; what only the server writes is never sent. */
const OF_CLIENTS: AttributeSelection = {
  isRead: attribute => !attribute.private,
  isWritten: (attribute, holder) =>
    attribute.writable && !(attribute.private && holder.holder === 'content-type' && holder.builtIn),
}

/** A module without dependencies: the types of the project, then the part that all clients share. */
export async function printClient(model: Model): Promise<string> {
  const types = [...model.contentTypes.values()]
  const served = types.filter(({ builtIn }) => !builtIn)
  const collections = served.filter(({ kind }) => kind === 'collection')
  const singles = served.filter(({ kind }) => kind === 'single')
  const parts = [
    ...typeBlock(
      'export interface ContentTypes',
      types.flatMap(type => printType(type, OF_CLIENTS)),
    ),
    '',
    ...typeBlock(
      'export interface Components',
      [...model.components.values()].flatMap(component => printComponent(component, OF_CLIENTS)),
    ),
    '',
    ...typeBlock('export interface Client extends Requests', served.map(printMember)),
    '',
    '/** The types of @strapi/client: `strapi({ baseURL }) as unknown as StrapiClient`. */',
    ...typeBlock('export interface StrapiClient', [
      'collection<const Name extends keyof Collections>(resource: Name): Collections[Name]',
      'single<const Name extends keyof Singles>(resource: Name): Singles[Name]',
    ]),
    '',
    ...typeBlock(
      'interface Collections',
      collections.map(type => `${printPropertyName(apiIdOf(type))}: ${requestsOf(type)}`),
    ),
    '',
    ...typeBlock(
      'interface Singles',
      singles.map(type => `${printPropertyName(apiIdOf(type))}: ${requestsOf(type)}`),
    ),
    '',
    ...typeBlock('const ROUTES =', served.map(printRoute)),
    '',
    '/** A client of the API at `url`. Each request rejects with an ApiError if the server refuses it. */',
    'export const createClient = (terms: ClientOptions): Client => connect(ROUTES, terms) as Client',
    '',
  ]
  const shared = await Promise.all(SHARED.map(readShared))
  return `${HEAD}${parts.join('\n')}\n${shared.map(withoutImports).join('\n')}`
}

const HEAD = `// Written by \`plinth client\` from project.yaml: to change it, change that and run it again.
// A client without dependencies. Types of answers follow \`fields\` and \`populate\`.

`

/** Copied into every client: from the sources, or from the folder that the build copies them to. */
const SHARED = ['core/plugins/document-types.ts', 'tools/cli/types/client-runtime.ts']

function readShared(path: string): Promise<string> {
  const source = join(PACKAGE_ROOT, path)
  return readFile(existsSync(source) ? source : join(PACKAGE_ROOT, 'dist', 'client', basename(path)), 'utf8')
}

/** Without imports: all names come from the client itself. An import ends with the line that has `from`. */
function withoutImports(text: string): string {
  let isImport = false
  const kept = text.split('\n').filter(line => {
    const begins = line.startsWith('import ')
    const drops = begins || isImport || line === 'export { connect }'
    isImport = (begins || isImport) && !line.includes(" from '")
    return !drops
  })
  return kept.join('\n').trim()
}

const requestsOf = ({ kind, uid }: ContentType): string =>
  `${kind === 'single' ? 'Single' : 'Collection'}<ContentTypes[${quote(uid)}]>`

const printMember = (type: ContentType): string =>
  `readonly ${printPropertyName(memberName(type))}: ${requestsOf(type)}`

const printRoute = (type: ContentType): string =>
  `${printPropertyName(memberName(type))}: { path: ${quote(apiIdOf(type))}, isSingle: ${type.kind === 'single'} },`

/** Members of every client. A type with such a name gets an underscore. */
const OWN = ['auth', 'upload', 'request']

/** `blog-posts` is `blogPosts`. */
function memberName(type: ContentType): string {
  const [first = '', ...rest] = apiIdOf(type).split(/[-_]/).filter(Boolean)
  const name = first + rest.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
  return OWN.includes(name) ? `${name}_` : name
}
