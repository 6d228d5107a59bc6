import type { Command, Option } from 'commander'

/** The examples of each command, by its words; shown by `--help`. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  '': ['plinth init my-api', 'plinth start', 'plinth check --print', 'plinth help start'],
  check: ['plinth check', 'plinth check api --json', 'plinth check --print'],
  openapi: ['plinth openapi', 'plinth openapi --role editor --out editor.json'],
  types: ['plinth types', 'plinth types --out src/content.d.ts', 'plinth types --check'],
  review: [
    'plinth review main',
    'plinth review origin/main --format markdown',
    'plinth review HEAD~1 --database postgres://ann@localhost/shop',
  ],
  test: ['plinth test', 'plinth test api --json'],
  client: ['plinth client --out web/src/api.ts', 'plinth client --out web/src/api.ts --check'],
  token: ['plinth token website', 'plinth token importer --type full-access --expires 90d'],
  init: [
    'plinth init my-api',
    'plinth init my-blog --template blog',
    'plinth init . --name my-api --no-install',
  ],
  start: [
    'plinth start',
    'plinth start api --port 4000',
    'plinth start --database postgres://ann@localhost/shop',
    'NODE_ENV=production plinth start --workers 4',
  ],
  plan: ['plinth plan', 'plinth plan --sql', 'plinth plan --json'],
  migrate: [
    'plinth migrate --dry-run',
    'plinth migrate --expand',
    'plinth migrate --allow-destructive',
    'plinth migrate --status',
  ],
  doctor: [
    'plinth doctor',
    'plinth doctor --log plinth.log --try',
    'plinth doctor --documents web/src',
    'plinth doctor --files',
  ],
  export: [
    'plinth export --out all.ndjson',
    'plinth export --types article,author --out - | gzip > articles.gz',
  ],
  import: [
    'plinth import all.ndjson',
    'plinth import api all.ndjson --on-conflict update',
    'plinth import all.ndjson --dry-run',
  ],
  'import strapi': [
    'plinth import strapi ../old --out my-api',
    'plinth import strapi ../old --out my-api --database postgres://ann@localhost/strapi',
    'plinth import strapi ../old --archive backup.tar.gz',
  ],
  roles: ['plinth roles', 'plinth roles --role public --type article'],
  'roles explain': [
    'plinth roles explain public find article',
    'plinth roles explain ann@example.org update article title --user',
    "plinth roles explain --request 'POST /api/reviews' --as ann",
  ],
  'roles who': ['plinth roles who update article', 'plinth roles who upload upload --json'],
  'roles diff': ['plinth roles diff main', 'plinth roles diff HEAD~1 --json'],
  user: ['plinth user list', 'plinth user add ann ann@example.org', 'plinth user block ann'],
  'user list': ['plinth user list --role editor', 'plinth user list --blocked --json'],
  'user add': [
    'plinth user add ann ann@example.org --role editor',
    'plinth user add ann ann@example.org --password-stdin < password.txt',
  ],
  'user role': ['plinth user role ann@example.org editor'],
  'user block': ['plinth user block ann'],
  'user unblock': ['plinth user unblock ann'],
  completion: [
    'plinth completion bash > ~/.local/share/bash-completion/completions/plinth',
    'source <(plinth completion zsh)   # in ~/.zshrc, after compinit',
    'plinth completion fish > ~/.config/fish/completions/plinth.fish',
  ],
}

/** A command with its words: `['roles', 'explain']`. */
interface NamedCommand {
  readonly words: readonly string[]
  readonly command: Command
}

/** A command and all below it. */
function commandsOf(command: Command, words: readonly string[] = []): readonly NamedCommand[] {
  return [{ words, command }, ...command.commands.flatMap(each => commandsOf(each, [...words, each.name()]))]
}

export function addExamples(program: Command): void {
  for (const { words, command } of commandsOf(program)) {
    const examples = EXAMPLES[words.join(' ')] ?? []
    command.addHelpText('after', `\nExamples:\n${examples.map(line => `  $ ${line}\n`).join('')}`)
  }
}

/** The options, values and arguments that shell completion offers for a command. */
interface Completable {
  /** `roles explain`; empty: the program itself. */
  readonly words: string
  readonly commands: readonly { readonly name: string; readonly text: string }[]
  readonly options: readonly CompletableOption[]
}

interface CompletableOption {
  readonly flag: string
  readonly text: string
  readonly choices: readonly string[]
  readonly takesValue: boolean
}

/** `plinth completion`: a script that completes commands, options and their values. */
export function printCompletion(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const table = commandsOf(program).map(
    ({ words, command }): Completable => ({
      words: words.join(' '),
      commands: command.commands.map(each => ({ name: each.name(), text: firstClause(each.description()) })),
      options: [
        ...command.options.flatMap(optionsOf),
        { flag: '--help', text: 'show help', choices: [], takesValue: false },
      ],
    }),
  )
  if (shell === 'fish') return fish(table)
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash(table)}` : bash(table)
}

const optionsOf = ({
  long,
  description,
  argChoices,
  required,
  optional,
}: Option): readonly CompletableOption[] =>
  long
    ? [
        {
          flag: long,
          text: firstClause(description),
          choices: argChoices ?? [],
          takesValue: required || optional,
        },
      ]
    : []

/** Without characters that a shell interprets. */
const firstClause = (text: string): string => (text.split(/[;:(]/)[0] ?? '').replace(/[^\w ,.-]/g, '').trim()

function bash(table: readonly Completable[]): string {
  const values = table.flatMap(({ words, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flag, choices }) =>
        choices.length > 0
          ? `    '${words} ${flag}') COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$word")); return ;;`
          : `    '${words} ${flag}') COMPREPLY=($(compgen -f -- "$word")); return ;;`,
      ),
  )
  const cases = table.map(
    ({ words, commands, options }) =>
      `    '${words}') names='${commands.map(({ name }) => name).join(' ')}' flags='${options.map(({ flag }) => flag).join(' ')}' ;;`,
  )
  const known = table.filter(({ words }) => words !== '').map(({ words }) => `'${words}'`)
  return `_plinth() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' next names='' flags='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${command:+$command }\${COMP_WORDS[i]}"
    case "$next" in
      ${known.join('|')}) command="$next" ;;
    esac
  done
  case "$command $previous" in
${values.join('\n')}
  esac
  case "$command" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$names" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _plinth plinth
`
}

function fish(table: readonly Completable[]): string {
  const lines = table.flatMap(({ words, commands, options }) => {
    const parts = words === '' ? [] : words.split(' ')
    const below = commands.map(({ name }) => name)
    const conditions = [
      ...(words === ''
        ? ['__fish_use_subcommand']
        : parts.map(part => `__fish_seen_subcommand_from ${part}`)),
      ...(below.length > 0 && words !== '' ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : []),
    ]
    const when = `complete -c plinth -n '${conditions.join('; and ')}'`
    return [
      ...commands.map(({ name, text }) => `${when} -a ${name} -d '${text}'`),
      ...options.map(({ flag, text, choices, takesValue }) => {
        const value = choices.length > 0 ? ` -xa '${choices.join(' ')}'` : takesValue ? ' -r' : ''
        return `${when} -l ${flag.slice(2)}${value} -d '${text}'`
      }),
    ]
  })
  return `${lines.join('\n')}\n`
}
