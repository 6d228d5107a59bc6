import { createHash } from 'node:crypto'

const WORD =
  /\d{0,9}(?:1st|2nd|3rd|(?![123])\dth)(?=\b|[A-Z_])|\d{0,9}(?:1ST|2ND|3RD|(?![123])\dTH)(?=\b|[a-z_])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g

/** snake_case as in lodash, which Strapi uses: digits are separate words. `metaTitle2` → `meta_title_2` */
export const snakeCase = (name: string): string =>
  (name.match(WORD) ?? []).map(word => word.toLowerCase()).join('_')

/** The table and column names of a Strapi version. */
export interface StrapiNames {
  table(collectionName: string): string
  column(attribute: string): string
  /** The join table of a relation. */
  links(table: string, attribute: string): string
  /** The join table of a relation to any content-type. */
  morphs(table: string, attribute: string): string
  /** The component table of a holder. */
  components(collectionName: string): string
  /** The join table of all media attributes. */
  readonly media: string
  /** The column with the component's id. */
  readonly componentId: string
  /** Strapi 4 only: the join table of translations. */
  localizations(table: string): string
}

/** Strapi 4 relies on PostgreSQL, which truncates long names. */
const cut = (name: string): string => name.slice(0, 63)

const NAMES_4: StrapiNames = {
  table: cut,
  column: attribute => cut(snakeCase(attribute)),
  links: (table, attribute) => cut(`${snakeCase(`${table}_${attribute}`)}_links`),
  morphs: (table, attribute) => cut(`${snakeCase(`${table}_${attribute}`)}_morphs`),
  components: collectionName => cut(`${collectionName}_components`),
  media: 'files_related_morphs',
  componentId: 'component_id',
  localizations: table => cut(`${snakeCase(table)}_localizations_links`),
}

const NAMES_5: StrapiNames = {
  table: collectionName => shortened([collectionName]),
  column: attribute => shortened([snakeCase(attribute)]),
  links: (table, attribute) => shortened([snakeCase(table), snakeCase(attribute)], 'lnk'),
  morphs: (table, attribute) => shortened([snakeCase(table), snakeCase(attribute)], 'mph'),
  components: collectionName => shortened([collectionName], 'cmps'),
  media: 'files_related_mph',
  componentId: 'cmp_id',
  localizations: table => shortened([snakeCase(table), 'localizations'], 'lnk'),
}

export const namesOf = (version: 4 | 5): StrapiNames => (version === 4 ? NAMES_4 : NAMES_5)

const LONGEST = 55
const HASH_LENGTH = 5

/** Strapi 5 shortens names over 55 characters: each part keeps its beginning and ends with a hash of the full part. */
function shortened(parts: readonly string[], suffix?: string): string {
  const all = suffix === undefined ? parts : [...parts, suffix]
  const name = all.join('_')
  if (name.length <= LONGEST) return name
  const available = LONGEST - (suffix?.length ?? 0) - (all.length - 1)
  const lengths = shares(parts, available)
  const short = parts.map((part, index) => shortPart(part, lengths[index] ?? part.length))
  return [...short, ...(suffix === undefined ? [] : [suffix])].join('_')
}

/** Divides the length equally; unused characters of short parts go to long ones, one at a time. */
function shares(parts: readonly string[], available: number): readonly number[] {
  const each = Math.floor(available / parts.length)
  const lengths = parts.map(part => Math.min(part.length, each))
  let surplus = available - lengths.reduce((sum, length) => sum + length, 0)
  for (let moved = true; surplus > 0 && moved; ) {
    moved = false
    for (const [index, part] of parts.entries()) {
      const length = lengths[index] ?? 0
      if (surplus === 0 || length >= part.length) continue
      lengths[index] = length + 1
      surplus -= 1
      moved = true
    }
  }
  return lengths
}

const shortPart = (part: string, length: number): string =>
  part.length <= length ? part : `${part.slice(0, length - HASH_LENGTH)}${hashOf(part)}`

const hashOf = (text: string): string =>
  createHash('shake256', { outputLength: Math.ceil(HASH_LENGTH / 2) })
    .update(text)
    .digest('hex')
    .slice(0, HASH_LENGTH)
