import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { PLINTH } from '../harness/program.ts'

const DOCS = join(import.meta.dirname, '../../docs')

interface Block {
  readonly language: string
  readonly text: string
}

/** The code blocks of a page, or of its section with this heading. */
function blocksOf(page: string, heading?: string): readonly Block[] {
  const text = readFileSync(join(DOCS, page), 'utf8')
  const part = heading === undefined ? text : (text.split(`\n${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '')
  return [...part.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
    language,
    text: code,
  }))
}

const PATH = /^(?:#|\/\/) ((?:[\w-]+\/)*[\w-]+\.(?:yaml|ts))\n/

/** The shell commands of a block: `sh` runs, and files whose first line is their path are written. */
function commandsOf({ language, text }: Block, number: number): string {
  const [, path] = PATH.exec(text) ?? []
  if (language === 'sh') return `block=${number}\n{\n${text}} >"$OUT/${number}" 2>"$OUT/errors"\n`
  if (path === undefined) return ''
  return `mkdir -p "$(dirname ${path})" && cat >${path} <<'END_OF_FILE'\n${text}END_OF_FILE\n`
}

/** `npm` and `npx` of a created project, without a registry: `npm run dev` returns when the server answers. */
const shimsOf = (plinth: string): Readonly<Record<string, string>> => ({
  plinth,
  // An imported project gets an empty database, too: making one takes seconds.
  npx: `#!/bin/sh
case "$2" in
  import) "$@" && cp -r "$OUT/../laid/.plinth" my-api ;;
  *) exec "$@" ;;
esac
`,
  npm: `#!/bin/bash
case "$1 $2" in
  'create plinth')
    shift 2; name=$1; shift; [ "$1" != -- ] || shift
    plinth init "$name" --no-install "$@" && cp -r "$OUT/../laid/.plinth" "$name" ;;
  'run check') exec plinth check ;;
  'run dev')
    plinth start --no-watch >"$OUT/log" 2>&1 </dev/null &
    echo $! >"$OUT/pid"
    for _ in $(seq 600); do
      curl -sf "http://127.0.0.1:$PORT/_ready" >/dev/null && exit 0
      kill -0 $! || break
      sleep 0.1
    done
    cat "$OUT/log" >&2; exit 1 ;;
  *) echo "npm $*: not known here" >&2; exit 1 ;;
esac
`,
})

function parse(output: string): object {
  try {
    return JSON.parse(output.slice(`\n${output}`.lastIndexOf('\n{')))
  } catch (error) {
    throw new Error(`not JSON: ${output}`, { cause: error })
  }
}

/** Ends at the first command that fails, with its messages, and stops the server. */
const BEGIN = `set -e
end() {
  code=$?
  [ $code -eq 0 ] || { echo "block $block: $code"; cat "$OUT/errors"; }
  [ -e "$OUT/pid" ] || exit $code
  kill "$(cat "$OUT/pid")"
  while kill -0 "$(cat "$OUT/pid")" 2>/dev/null; do sleep 0.1; done
  exit $code
}
trap end EXIT
`

/** Runs all blocks in one shell, and compares the JSON after a command with the end of its output. */
async function follow(t: ExecutionContext, blocks: readonly Block[], strapi?: string): Promise<void> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const shims = shimsOf(`#!/bin/sh\nexec '${process.execPath}' ${PLINTH.join(' ')} "$@"\n`)
  for (const [name, text] of Object.entries(shims)) {
    folder.write(`bin/${name}`, text)
    chmodSync(join(folder.path, 'bin', name), 0o755)
  }
  folder.write('out/errors', '')
  folder.write('work/.keep', '')
  await layEmbedded(join(folder.path, 'laid'))
  if (strapi) cpSync(strapi, join(folder.path, 'my-strapi'), { recursive: true })
  const port = String(await freePort())
  const script = blocks.map(commandsOf).join('').replaceAll('localhost:1337', `127.0.0.1:${port}`)
  const out = join(folder.path, 'out')
  const shell = spawn('bash', ['-c', BEGIN + script], {
    cwd: join(folder.path, 'work'),
    env: {
      ...process.env,
      ...{ OUT: out, PORT: port, HOST: '127.0.0.1', DATABASE_URL: 'embedded', NODE_ENV: '' },
      PATH: `${join(folder.path, 'bin')}:${process.env.PATH}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let failure = ''
  shell.stdout.on('data', part => {
    failure += String(part)
  })
  const [code] = await once(shell, 'close')
  t.is(code, 0, failure)
  for (const [number, { language, text }] of blocks.entries()) {
    if (language !== 'json') continue
    const output = readFileSync(join(out, String(number - 1)), 'utf8')
    t.like(parse(output), JSON.parse(text), output)
  }
}

test('the tutorial for a team that edits YAML, and the curl examples, do what they say', t =>
  follow(t, [
    ...blocksOf('tutorials/content-team.md').slice(0, 3),
    ...blocksOf('identity.md', '## With curl'),
    ...blocksOf('rest.md', '### With curl'),
    ...blocksOf('events.md').slice(1, 3),
    ...blocksOf('tutorials/content-team.md').slice(3),
  ]))

test('the tutorial for plugin authors does what it says', t =>
  follow(t, blocksOf('tutorials/plugin-author.md')))

test('the tutorial for admins of roles does what it says', t =>
  follow(t, blocksOf('tutorials/role-admin.md')))

test('the tutorial for teams from Strapi does what it says', t =>
  follow(t, blocksOf('tutorials/from-strapi.md'), join(import.meta.dirname, '../strapi/v5')))
