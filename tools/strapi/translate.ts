import { ok, type Result } from '../../core/base/result.ts'
import type { Diagnostic } from '../../core/faults/diagnostic.ts'
import { localeName } from '../../core/project/settings/derive-defaults.ts'
import type { Json } from '../../core/project/settings/settings.ts'
import { codeNotes, middlewareNotes, pluginNotes } from './convert/code-notes.ts'
import { pairRelations } from './convert/pair-relations.ts'
import { configNotes, otherSettings, panelNotes } from './convert/project-warnings.ts'
import { roleKeys, tokenNotes, toRoles } from './convert/to-roles.ts'
import { toRoutes } from './convert/to-routes.ts'
import { convertServer } from './convert/to-server.ts'
import {
  convertGraphql,
  convertRest,
  setting,
  toUpload,
  transformerNotes,
  usersPermissions,
  whyNoUsers,
  withServedLocales,
} from './convert/to-settings.ts'
import { toTypes } from './convert/to-types.ts'
import { nameFaults, repairSheet } from './drop-invalid.ts'
import { type Names, NONE_REFUSED, nameAll, refusedNames } from './names.ts'
import { textAt, valueAt } from './read/literal-value.ts'
import type { StrapiFacts, StrapiLocale } from './read/read-facts.ts'
import type { StrapiProject } from './read/strapi-project.ts'
import {
  type Block,
  block,
  type DocumentEntry,
  entry,
  flow,
  type GivenNote,
  lost,
  printSheet,
  type Remark,
  section,
} from './yaml-document.ts'

/** Converts a Strapi project to the sections of project.yaml. The result may still have faults. */
export function translate(project: StrapiProject, names: Names, facts: StrapiFacts | null): Block {
  return block(
    [
      flow('name', project.name),
      convertServer(project),
      section('database', [entry('url', { kind: 'variable', name: 'DATABASE_URL', fallback: 'embedded' })]),
      toLocales(project, facts),
      convertRest(project),
      convertGraphql(project),
      ...toTypes(project, names, facts),
      facts === null ? undefined : toRoles(project, facts, names),
      toRoutes(project, names),
      toAuth(project, names, facts),
      toUpload(project),
    ],
    closingNotes(project, facts),
  )
}

/** Strapi stores locales in its database. */
function toLocales({ contentTypes }: StrapiProject, facts: StrapiFacts | null): DocumentEntry | undefined {
  if (facts !== null && facts.locales.length > 0) {
    const { locales, defaultLocale = 'en' } = facts
    if (defaultLocale === 'en' && locales.length === 1 && locales[0]?.code === 'en') return undefined
    return section('i18n', [flow('locales', locales.map(toLocale)), flow('defaultLocale', defaultLocale)])
  }
  const isLocalized = contentTypes.some(
    ({ schema }) => valueAt(schema, 'pluginOptions', 'i18n', 'localized') === true,
  )
  if (!isLocalized) return undefined
  return section(
    'i18n',
    [flow('locales', ['en']), flow('defaultLocale', 'en')],
    [lost('Strapi keeps its locales in its database: name them all here, or import with --database')],
  )
}

const toLocale = ({ code, name }: StrapiLocale): Json =>
  name === '' || name === localeName(code) ? code : { code, name }

/** Sign-in settings from config/plugins and, if set in the admin panel, from the database. */
function toAuth(project: StrapiProject, names: Names, facts: StrapiFacts | null): DocumentEntry | undefined {
  const { jwtExpiresIn, allowedFields } = usersPermissions(project, names)
  const advanced = facts?.advanced
  const role = defaultRole(facts)
  const noUsers = whyNoUsers(project)
  const isClosed = noUsers !== null || valueAt(advanced, 'allow_register') === false
  return section('auth', [
    entry('jwtSecret', { kind: 'variable', name: 'JWT_SECRET', fallback: '' }),
    jwtExpiresIn,
    section('register', [
      flow(
        'enabled',
        isClosed ? false : undefined,
        noUsers === null ? [] : [`${noUsers}: visitors could not register`],
      ),
      flow('role', role === 'authenticated' ? undefined : role),
      flow('allowedFields', allowedFields),
      flow('confirmEmail', valueAt(advanced, 'email_confirmation') === true ? true : undefined),
    ]),
    section('mail', [
      // An empty text is no sender, as an unset variable in Strapi.
      setting('from', valueAt(project.config.plugins, 'email', 'config', 'settings', 'defaultFrom'), ''),
      flow('resetUrl', textAt(advanced, 'email_reset_password') || undefined),
      flow('confirmUrl', textAt(advanced, 'email_confirmation_redirection') || undefined),
    ]),
  ])
}

/** The key of the role of new users. */
function defaultRole(facts: StrapiFacts | null): string | undefined {
  const types = facts?.roles.map(({ type }) => type) ?? []
  const wanted = textAt(facts?.advanced, 'default_role')
  return wanted === undefined ? undefined : (roleKeys(types)[types.indexOf(wanted)] ?? wanted)
}

const NO_ROLES =
  'Strapi keeps roles and their permissions in its database: import with --database, or grant them in `roles`. Until then content is for API tokens only'

function closingNotes(project: StrapiProject, facts: StrapiFacts | null): readonly GivenNote[] {
  const { merged, unread } = project.environments
  const notes: readonly GivenNote[] = [
    ...project.unreadable.map(text => lost(`not read: ${text}`, placeIn(text))),
    ...configNotes(project),
    ...otherSettings(project),
    ...transformerNotes(project),
    ...codeNotes(project),
    ...middlewareNotes(project),
    ...(facts === null
      ? whyNoUsers(project) === null
        ? [lost(NO_ROLES)]
        : []
      : [...tokenNotes(facts).map(text => lost(text)), ...panelNotes(facts)]),
    ...pluginNotes(project),
    ...merged.map(file => `${file} is imported: its settings replace those of config/`),
    ...unread.map(
      name => `config/env/${name}/ was not read: use variables for settings that depend on the environment`,
    ),
    ...(project.contentTypes.length === 0 ? [lost('src/api holds no content-type')] : []),
    ...project.irregular,
  ]
  return notes.length === 0 ? [] : ['What Strapi did besides, and Plinth does not:', ...notes.map(listed)]
}

const placeIn = (text: string): string | undefined => /^[^:]+(?::\d+)?/.exec(text)?.[0]

const listed = (note: GivenNote): GivenNote =>
  typeof note === 'string' ? `- ${note}` : { ...note, text: `- ${note.text}` }

/** A project file, and its comments. */
export interface ImportedSchema {
  readonly yaml: string
  readonly names: Names
  readonly remarks: readonly Remark[]
  /** With relations whose sides agree, and locales only where Strapi had them. */
  readonly project: StrapiProject
}

/** Converts a Strapi project to a project file without faults. Facts of the database replace those of files. */
export async function importSchema(
  declared: StrapiProject,
  facts: StrapiFacts | null,
): Promise<Result<ImportedSchema, Diagnostic>> {
  const project = pairRelations(withServedLocales(declared), facts)
  const { names, sheet } = await withAcceptedNames(project, facts ?? project.synced)
  const repaired = await repairSheet(sheet)
  if (!repaired.ok) return repaired
  return ok({ ...printSheet(repaired.value), names, project })
}

interface Named {
  readonly names: Names
  readonly sheet: Block
}

/** More than names that depend on one another need. */
const NAMING_ROUNDS = 20

/** Renames what `plinth check` refuses for its name, together with all references, until it refuses none. */
async function withAcceptedNames(project: StrapiProject, facts: StrapiFacts | null): Promise<Named> {
  let refused = NONE_REFUSED
  let names = nameAll(project)
  let sheet = translate(project, names, facts)
  for (let round = 0; round < NAMING_ROUNDS; round++) {
    const more = refusedNames(await nameFaults(sheet), project, { names, refused })
    if (more === refused) break
    refused = more
    names = nameAll(project, refused)
    sheet = translate(project, names, facts)
  }
  return { names, sheet }
}
