import { parse } from 'yaml'
import { type Path, printPath } from '../../core/faults/diagnostic.ts'
import type { Project } from '../../core/project/project.ts'
import type { AttributeDeclaration, Settings } from '../../core/project/settings.ts'

type Loose = Record<string, unknown>

/**
 * A project of a few lines of YAML, in the grammar of project.yaml, with the defaults that a model depends on.
 * Places carry the path that was asked for, so that a test can see it.
 */
export function declare(yaml: string): Project {
  const { components, contentTypes, user, i18n } = parse(yaml) as Record<string, Loose | undefined>
  const settings: Partial<Settings> = {
    i18n: i18nOf(i18n),
    components: mapped(components, holderOf),
    contentTypes: mapped(contentTypes, type => ({
      kind: 'collection',
      draftAndPublish: false,
      localized: false,
      indexes: [],
      ...holderOf(type),
    })),
    user: holderOf(user),
  }
  return {
    root: '/project',
    file: '/project/project.yaml',
    settings: settings as Settings,
    place: path => placeOf(path, 'value'),
    keyPlace: path => placeOf(path, 'key'),
  }
}

const placeOf = (path: Path, what: string) => ({
  file: 'project.yaml',
  line: 1,
  column: 1,
  source: `${what} of ${printPath(path)}`,
})

const mapped = <Value>(all: Loose | undefined, to: (each: Loose) => Value): Record<string, Value> =>
  Object.fromEntries(Object.entries(all ?? {}).map(([key, each]) => [key, to(each as Loose)]))

const holderOf = (holder: Loose | undefined) => ({
  ...holder,
  attributes: Object.fromEntries(
    Object.entries((holder?.attributes ?? {}) as Loose).map(([name, attribute]) => [
      name,
      attributeOf(attribute),
    ]),
  ),
})

const DEFAULTS: Record<string, Loose> = {
  media: { multiple: false, allowedTypes: ['images', 'videos', 'audios', 'files'] },
  component: { repeatable: false },
  relation: {},
  dynamiczone: {},
}

function attributeOf(written: unknown): AttributeDeclaration {
  const long = (typeof written === 'string' ? { type: written } : written) as Loose
  const { enum: values } = long
  return {
    required: false,
    private: false,
    writable: true,
    ...(DEFAULTS[String(long.type)] ?? { unique: false }),
    ...long,
    ...(Array.isArray(values)
      ? { enum: values.map(each => (typeof each === 'string' ? { value: each } : each)) }
      : {}),
  } as AttributeDeclaration
}

function i18nOf(i18n: Loose | undefined): Settings['i18n'] {
  const locales = (i18n?.locales ?? ['en']) as readonly (string | { code: string; renamedFrom?: string })[]
  return {
    locales: locales.map(each =>
      typeof each === 'string' ? { code: each, name: each } : { name: each.code, ...each },
    ),
    defaultLocale: String(i18n?.defaultLocale ?? 'en'),
  }
}
