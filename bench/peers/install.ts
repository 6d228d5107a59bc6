import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

/** What a production install is made of. */
export interface Installed {
  readonly folder: string
  readonly packages: number
  /** On the disk, MB (10^6). */
  readonly megabytes: number
}

const INSTALL = ['install', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline']

interface Peer {
  readonly name: 'strapi' | 'payload'
  /** Where all of them are installed. */
  readonly within: string
  /** What has to be done once its packages are there. */
  readonly build: (folder: string) => Promise<void>
}

/** Installs the template of that name, unless the same was installed there before. */
export async function install({ name, within, build }: Peer): Promise<Installed> {
  const template = join(import.meta.dirname, name)
  const folder = join(within, name)
  const [mark, wanted] = [join(folder, 'installed'), digest(template)]
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    rmSync(mark, { force: true })
    cpSync(template, folder, { recursive: true })
    await runIn(folder)('npm', INSTALL)
    await build(folder)
    writeFileSync(mark, wanted)
  }
  return installed(folder)
}

/** Plinth as it is now, packed and installed as a user would. */
export async function installPlinth(within: string): Promise<Installed> {
  const root = resolve(import.meta.dirname, '..', '..')
  const folder = join(within, 'plinth')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await runIn(root)('npm', ['pack', '--ignore-scripts', '--pack-destination', folder])
  const packed = readdirSync(folder).find(name => name.endsWith('.tgz'))
  assert(packed)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  await runIn(folder)('npm', [...INSTALL, join(folder, packed)])
  return installed(folder)
}

function digest(template: string): string {
  const hash = createHash('sha256')
  for (const name of filesIn(template).toSorted()) hash.update(name).update(readFileSync(name))
  return hash.digest('hex')
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(each => !each.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))

function installed(folder: string): Installed {
  const modules = join(folder, 'node_modules')
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { packages: object }
  const bytes = filesIn(modules).reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0)
  return { folder, packages: Object.keys(lock.packages).length, megabytes: bytes / 1e6 }
}

type Run = (
  command: string,
  parameters: readonly string[],
  environment?: Readonly<Record<string, string>>,
) => Promise<void>

/** Runs commands in a folder, each to its end; fails where one does. */
export const runIn =
  (folder: string): Run =>
  async (command, parameters, environment = {}) => {
    const child = spawn(command, parameters, {
      cwd: folder,
      env: { ...process.env, ...environment },
      stdio: ['ignore', process.stderr, process.stderr],
    })
    const [code] = await once(child, 'exit')
    assert.equal(code, 0, `${command} ${parameters.join(' ')} in ${folder}`)
  }
