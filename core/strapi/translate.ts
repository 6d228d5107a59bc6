import { codeNotes } from './code-notes.ts'
import { at } from './given.ts'
import type { Names } from './names.ts'
import { type Block, block, type Entry, entry, flow, section } from './sheet.ts'
import type { StrapiProject } from './strapi-project.ts'
import { ownMiddlewares, toGraphql, toRest, toServer, toUpload, usersPermissions } from './to-settings.ts'
import { toTypes } from './to-types.ts'

/** A Strapi project in the words of project.yaml, in its order; not yet what the checker makes of it. */
export function translate(project: StrapiProject, names: Names): Block {
  const { jwtExpiresIn, allowedFields } = usersPermissions(project)
  return block(
    [
      flow('name', project.name),
      toServer(project),
      section('database', [entry('url', { kind: 'variable', name: 'DATABASE_URL', fallback: 'embedded' })]),
      toLocales(project),
      toRest(project),
      toGraphql(project),
      ...toTypes(project, names),
      section('auth', [
        entry('jwtSecret', { kind: 'variable', name: 'JWT_SECRET', fallback: '' }),
        flow('jwtExpiresIn', jwtExpiresIn),
        section('register', [flow('allowedFields', allowedFields)]),
      ]),
      toUpload(project),
    ],
    closingNotes(project),
  )
}

/** Strapi keeps its locales in its database. */
function toLocales({ contentTypes }: StrapiProject): Entry | undefined {
  const isLocalized = contentTypes.some(
    ({ schema }) => at(schema, 'pluginOptions', 'i18n', 'localized') === true,
  )
  if (!isLocalized) return undefined
  return section(
    'i18n',
    [flow('locales', ['en']), flow('defaultLocale', 'en')],
    ['Strapi keeps its locales in its database: name them all here, or import with --database'],
  )
}

/** Packages of Strapi's that Plinth does the work of, or that are its panel's. */
const COVERED =
  /^(?:@strapi\/(?:strapi|plugin-(?:users-permissions|i18n|graphql|cloud)|provider-upload-(?:aws-s3|local))|pg|mysql2?|sqlite3|better-sqlite3|react(?:-dom|-router-dom)?|styled-components)$/

function closingNotes(project: StrapiProject): readonly string[] {
  const plugins = project.packages.filter(
    name => !COVERED.test(name) && /strapi/.test(name) && /plugin|provider/.test(name),
  )
  const notes = [
    ...codeNotes(project),
    ...ownMiddlewares(project).map(
      name =>
        `the middleware \`${name}\` of config/middlewares did not come over: a module in middlewares/, named under \`middlewares\``,
    ),
    ...plugins.map(name => `the package ${name} did not come over`),
    ...(project.contentTypes.length === 0 ? ['src/api holds no content-type'] : []),
    ...project.unreadable.map(text => `not read: ${text}`),
  ]
  return notes.length === 0
    ? []
    : ['What Strapi did besides, and Plinth does not:', ...notes.map(note => `- ${note}`)]
}
