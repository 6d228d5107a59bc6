import type { ExecutionContext } from 'ava'
import { type GraphQLSchema, printSchema } from 'graphql'
import { compileApp } from '../../core/app/compile-app.ts'
import { registerApp } from '../../core/app/open-plugins.ts'
import { printStartFault } from '../../core/app/start-fault.ts'
import { compileGenerated } from '../../core/graphql/compile-schema.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { temporaryFolder } from '../harness/folder.ts'

/** Files of a project by their path; for `extensions/` the object passed to `defineExtension({ … })`. */
export type Files = Readonly<Record<string, string>>

export function folderOf(t: ExecutionContext, files: Files): string {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const [path, body] of Object.entries(files)) {
    const isExtension = path.startsWith('extensions/')
    const lines = isExtension
      ? `import { defineExtension } from 'plinth'\nexport default defineExtension({ ${body} })\n`
      : body
    folder.write(path, lines)
  }
  return folder.path
}

/** The result of a start before it opens a database: the schema, or the faults. */
export async function load(t: ExecutionContext, files: Files): Promise<GraphQLSchema | string> {
  const blueprint = await compileApp(folderOf(t, files), { DATABASE_URL: 'embedded' })
  if (!blueprint.ok) return blueprint.reasons.map(({ message }) => message).join('\n')
  const registered = await registerApp(blueprint.value, SILENT)
  if (!registered.ok) return registered.reasons.map(printStartFault).join('\n')
  const { schemas, graphql } = registered.value
  const { model, project } = blueprint.value
  const compiled =
    schemas?.get('nested') ??
    compileGenerated({ format: 'nested', model, settings: project.settings.graphql, shadow: graphql.shadow })
  return compiled.schema
}

/** The schema as text; fails with what is wrong where there is none. */
export async function sdlOf(t: ExecutionContext, files: Files): Promise<string> {
  const schema = await load(t, files)
  if (typeof schema === 'string') throw new Error(schema)
  return printSchema(schema)
}

/** `Author.name: String!`: one line a field, with the type that it belongs to; arguments in alphabetical order. */
export function linesOf(schema: GraphQLSchema): readonly string[] {
  let type = ''
  return printSchema(schema)
    .replace(/^ *""".*?"""\n/gms, '')
    .replace(
      /\(\n([^)]*)\)/g,
      (_, args: string) =>
        `(${args
          .trim()
          .split(/\s*\n\s*/)
          .join(', ')})`,
    )
    .split('\n')
    .flatMap(line => {
      const opened = /^(?:type|input|enum) (\w+) \{$/.exec(line)?.[1]
      if (opened !== undefined) type = opened
      if (line.startsWith('  ')) return [`${type}.${sorted(line.trim())}`]
      return line === '' || line === '}' ? [] : [withSortedMembers(line)]
    })
}

const withSortedMembers = (line: string): string =>
  line.replace(
    /^(union \w+ = )(.*)/,
    (_, name: string, members: string) => name + members.split(' | ').toSorted().join(' | '),
  )

const sorted = (line: string): string =>
  line.replace(/\((.*)\)/, (_, inner: string) => `(${inner.split(', ').toSorted().join(', ')})`)

/** `- ` what they have and we have not, `+ ` what we have and they have not. */
export function differences(ours: readonly string[], theirs: readonly string[]): string {
  const found = [
    ...theirs.filter(line => !ours.includes(line)).map(line => `- ${line}`),
    ...ours.filter(line => !theirs.includes(line)).map(line => `+ ${line}`),
  ]
  return `${found.toSorted((one, other) => (one.slice(2) < other.slice(2) ? -1 : 1)).join('\n')}\n`
}
