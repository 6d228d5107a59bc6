import type { OwnCode, StrapiProject } from '../read/strapi-project.ts'

/** What takes the place of code of Strapi's. */
const SUCCESSORS: Readonly<Record<OwnCode['kind'], string>> = {
  controller: 'an extension can answer the route itself, or a middleware of `routesConfig` change its answer',
  service: 'extensions and policies reach documents by `app.documents`',
  route: 'an extension adds routes; `routesConfig` says what guards the generated ones',
  policy: 'a module in policies/, named in `routesConfig`',
  middleware: 'a module in middlewares/, named in `routesConfig` or in `middlewares`',
  lifecycle: 'an extension: a document middleware runs around a write, a listener hears of it afterwards',
  index: 'an extension with `register` or `start`',
  extension: 'an extension, or `user.attributes` for what users have besides',
  plugin: 'an extension',
  cron: 'a scheduler of your own',
}

/** The own code of one API, or, without one, of the project as a whole. */
export const codeNotes = ({ ownCode }: StrapiProject, api?: string): readonly string[] =>
  ownCode
    .filter(code => code.api === api)
    .map(({ kind, file }) => `${file} (${kind}) did not come over: ${SUCCESSORS[kind]}`)
