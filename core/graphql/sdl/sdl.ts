/** One definition of the schema language; empty where it would have no fields, which the language does not allow. */
export type Sdl = string

export const objectType = (name: string, fields: readonly string[]): Sdl => block('type', name, fields)

export const inputType = (name: string, fields: readonly string[]): Sdl => block('input', name, fields)

export const enumType = (name: string, values: readonly string[]): Sdl => block('enum', name, values)

export const unionType = (name: string, members: readonly string[]): Sdl =>
  `union ${name} = ${members.join(' | ')}`

export const scalarType = (name: string): Sdl => `scalar ${name}`

/** `title: String!`, `articles(sort: [String] = []): …` */
export function field(name: string, type: string, args: readonly string[] = []): string {
  const given = args.length > 0 ? `(${args.join(', ')})` : ''
  return `${name}${given}: ${type}`
}

const block = (keyword: string, name: string, lines: readonly string[]): Sdl =>
  lines.length === 0 ? '' : `${keyword} ${name} {\n${lines.map(line => `  ${line}`).join('\n')}\n}`
