import { spawn } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { makeFolder } from '../../core/base/make-folder.ts'
import { PACKAGE_ROOT, PRODUCT_VERSION } from '../../core/base/product.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { CommandContext } from './command-options.ts'

export interface InitOptions {
  readonly template: 'blank' | 'blog' | 'shop' | 'example'
  /** The name in package.json; default: the folder's name. */
  readonly name?: string | undefined
  /** Run the package manager in the new project. */
  readonly install: boolean
}

/** `plinth init`: creates a project in `folder`. Exit code 1 if it was not created or its packages were not installed. */
export async function runInit(terms: CommandContext, options: InitOptions): Promise<0 | 1> {
  const root = resolve(terms.folder)
  const manager = managerOf(terms.env)
  const created = await createProject(root, options, manager)
  if (!created.ok) {
    terms.writeError(`${created.reasons.join('\n')}\n`)
    return 1
  }
  const shown = relative(process.cwd(), root)
  const where = shown === '' ? 'this folder' : shown
  const { paint, write } = terms
  write(`${paint('green', '✓')} Created ${created.value.length} files in ${paint('bold', where)}\n`)
  const isInstalled = options.install && (await install(root, manager, terms))
  const steps = [
    ...(shown === '' ? [] : [`cd ${quoted(shown)}`]),
    ...(isInstalled ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ]
  write(`\nNext:\n\n${steps.map(step => `  ${paint('bold', step)}\n`).join('')}\n`)
  return options.install && !isInstalled ? 1 : 0
}

const quoted = (path: string): string => (/^[\w./\\-]+$/.test(path) ? path : `"${path}"`)

/** Writes the files of a new project and returns their paths. Leaves nothing if it fails, so that it can be repeated. */
async function createProject(
  root: string,
  { template, name }: InitOptions,
  manager: string,
): Promise<Result<readonly string[], string>> {
  const input = name ?? basename(root)
  const made: string[] = []
  try {
    const fault = nameFault(input) ?? folderFault(root)
    if (fault !== undefined) return failed(name === undefined ? fault : fault.replace(NAME_HINT, ''))
    const files = new Map<string, Buffer | string>([
      ...filesOf(join(PACKAGE_ROOT, 'templates', 'base')),
      ...templateFiles(template),
      ['package.json', manifestOf(input, root, manager)],
    ])
    for (const [path, content] of files) await writeNew(join(root, path), fillIn(path, content, input), made)
    return ok([...files.keys()])
  } catch (error) {
    for (const path of made.toReversed()) rmSync(path, { recursive: true, force: true })
    if (error instanceof Error && 'code' in error)
      return failed(`The project was not created: ${fileFault(error, root)}`)
    throw error
  }
}

const DENIED = new Set<unknown>(['EACCES', 'EPERM', 'EROFS'])

interface FileError extends Error {
  readonly code?: unknown
  readonly syscall?: unknown
  readonly path?: string
}

function fileFault(error: FileError, root: string): string {
  if (error.code === 'ENOENT' && error.syscall === 'mkdir')
    return `the file system of ${dirname(error.path ?? root)} takes no new folder`
  if (!DENIED.has(error.code)) return error.message
  const where = error.path ?? root
  return `this user has no permission to read or write ${where}. Name a folder of your own: \`plinth init my-api\`.`
}

/** Adds what it creates to `made`. `wx`: a file that exists meanwhile is never overwritten. */
async function writeNew(path: string, content: Buffer | string, made: string[]): Promise<void> {
  const folder = await makeFolder(dirname(path))
  if (folder !== undefined) made.push(folder)
  const file = openSync(path, 'wx')
  made.push(path)
  try {
    writeFileSync(file, content)
  } finally {
    closeSync(file)
  }
}

const NAME_HINT = '; --name gives the package a name of its own'
const MAX_NAME_LENGTH = 214
const RESERVED = new Set(['node_modules', 'favicon.ico', 'plinth'])

/** Reports a name that npm would refuse in package.json. */
function nameFault(name: string): string | undefined {
  const isValid = /^[a-z0-9][a-z0-9._-]*$/.test(name) && name.length <= MAX_NAME_LENGTH && !RESERVED.has(name)
  if (isValid) return undefined
  const near = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MAX_NAME_LENGTH)
  const suggestion = near === '' || RESERVED.has(near) ? 'my-api' : near
  return `${JSON.stringify(name)} cannot be the name of a package (lower-case letters, digits, "-", "_" and "."): try \`${suggestion}\`${NAME_HINT}`
}

/** Files that the folder of a new project may contain already. */
const HARMLESS_FILES = new Set(['.git', '.DS_Store'])
const MAX_LISTED = 10

/** undefined: the folder is new or empty. */
function folderFault(root: string): string | undefined {
  if (!existsSync(root)) return brokenLink(root)
  if (!statSync(root).isDirectory()) return `${root} is a file; a project needs a new or empty folder`
  const found = readdirSync(root).filter(name => !HARMLESS_FILES.has(name))
  if (found.length === 0) return undefined
  const more = found.length > MAX_LISTED ? [`  and ${found.length - MAX_LISTED} more`] : []
  const listed = found.slice(0, MAX_LISTED).map(name => `  ${name}`)
  return [
    `${root} is not empty, and no file is overwritten; it contains:`,
    ...listed,
    ...more,
    'Name a new folder: `plinth init my-api`.',
  ].join('\n')
}

function brokenLink(root: string): string | undefined {
  if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return undefined
  return `${root} is a symbolic link to ${readlinkSync(root)}, which does not exist; create that folder, or name another one`
}

/** The example is the project in the root folder of the repository; the build copies it into the package. */
const EXAMPLE_PARTS = [
  'project.yaml',
  'content',
  'policies',
  'middlewares',
  'extensions',
  'mails',
  'tests/permissions.yaml',
]

function templateFiles(template: InitOptions['template']): readonly (readonly [string, Buffer])[] {
  const files = filesOf(join(PACKAGE_ROOT, 'templates', template))
  if (template !== 'example') return files
  const packed = join(PACKAGE_ROOT, 'dist', 'example')
  const isCheckout = existsSync(join(PACKAGE_ROOT, 'core'))
  const from = isCheckout ? PACKAGE_ROOT : packed
  return [...EXAMPLE_PARTS.flatMap(part => filesOf(from, part)), ...files]
}

/** The files of a folder with their paths. npm would leave out a file named `.gitignore`. */
function filesOf(folder: string, part = ''): readonly (readonly [string, Buffer])[] {
  const path = join(folder, part)
  if (!statSync(path).isDirectory()) return [[part === 'gitignore' ? '.gitignore' : part, readFileSync(path)]]
  return readdirSync(path).flatMap(name => filesOf(folder, join(part, name)))
}

/** Writes the name of the project into its README and project.yaml. */
function fillIn(path: string, content: Buffer | string, name: string): Buffer | string {
  if (path === 'README.md') return content.toString().replaceAll('__NAME__', name)
  if (path !== 'project.yaml') return content
  return content
    .toString()
    .replace(/^# yaml-language-server:.*/, SCHEMA_LINE)
    .replace(/^name: .*/m, `name: ${JSON.stringify(name)}`)
}

const SCHEMA_LINE = '# yaml-language-server: $schema=./node_modules/plinth/project.schema.json'

/**
 * The package that yarn has to resolve to Plinth's version. Without `resolutions` yarn installs the newest version that another
 * dependency allows, which needs Node 22.
 */
const MERGE = '@graphql-tools/merge'

/**
 * A script is one plain command, for sh and cmd alike: a shell replaces itself by the only command of `sh -c`, so that a
 * signal to `npm start` reaches the server. `exec` would say so, but cmd does not know it.
 */
function manifestOf(name: string, root: string, manager: string): string {
  const { dependencies = {}, devDependencies = {} } = readManifest()
  const versionOf = (tool: string) => [tool, devDependencies[tool] ?? '*'] as const
  const manifest = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      dev: 'plinth start',
      start: 'plinth start --no-watch',
      check: 'plinth check && plinth types && tsc',
      test: 'node --import tsx --test tests/*.test.ts && plinth test',
      types: 'plinth types',
    },
    dependencies: { plinth: plinthDependency(root) },
    devDependencies: Object.fromEntries(
      ['@types/express', '@types/node', 'tsx', 'typescript'].map(versionOf),
    ),
    ...(manager === 'yarn' && { resolutions: { [MERGE]: dependencies[MERGE] ?? '*' } }),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const readManifest = (): Manifest => JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'))

/** The dependency on the Plinth that runs now: a version of the registry, a packed tarball, or a source checkout. */
function plinthDependency(root: string): string {
  const file = existsSync(join(PACKAGE_ROOT, 'core')) ? PACKAGE_ROOT : installedTarball()
  return file === undefined ? `^${PRODUCT_VERSION}` : `file:${relative(root, file).split(sep).join('/')}`
}

/** The tarball that npm installed this package from, by npm's lock file; undefined: it was installed from the registry. */
function installedTarball(): string | undefined {
  const modules = dirname(PACKAGE_ROOT.replace(/[\\/]$/, ''))
  const record = join(modules, '.package-lock.json')
  if (!existsSync(record)) return undefined
  const { packages = {} }: { packages?: Record<string, { resolved?: string }> } = JSON.parse(
    readFileSync(record, 'utf8'),
  )
  const resolved = packages[`node_modules/${basename(PACKAGE_ROOT)}`]?.resolved
  return resolved?.startsWith('file:') ? resolve(dirname(modules), resolved.slice('file:'.length)) : undefined
}

/** The package manager that started this process. */
function managerOf({ npm_config_user_agent: agent = '' }: CommandContext['env']): string {
  return /^(pnpm|yarn|bun)\//.exec(agent)?.[1] ?? 'npm'
}

/** Resolves to false if the packages could not be installed; the reason is on the terminal. */
async function install(
  root: string,
  manager: string,
  { write, writeError }: CommandContext,
): Promise<boolean> {
  write(`Installing packages with ${manager} …\n`)
  const args = manager === 'npm' ? ['install', '--no-audit', '--no-fund', '--loglevel=error'] : ['install']
  const isWindows = process.platform === 'win32'
  const child = spawn(manager, args, { cwd: root, stdio: 'inherit', shell: isWindows })
  const code = await new Promise<number | null>(done => {
    child.once('error', () => done(null)).once('exit', done)
  })
  if (code !== 0) writeError(`The project is complete, but ${manager} could not install its packages.\n`)
  return code === 0
}
