import { type ConsoleView, consoleViewsOf } from '../access/console-views.ts'
import { type BuiltInOptions, TEXT } from './account-paths.ts'
import { closed, type Schema } from './answer-schemas.ts'
import { errorResponses, jsonResponse, type PathItem } from './operations.ts'

interface DescribedView {
  readonly view: ConsoleView
  readonly summary: string
  readonly parameters: readonly Schema[]
}

const parameter = (name: string, description: string, required = false): Schema => ({
  ...{ name, in: 'query', description, schema: TEXT },
  ...(required && { required }),
})

const VIEWS: Readonly<Record<string, DescribedView>> = {
  model: { view: 'model', summary: 'Content-types and components, with their lines', parameters: [] },
  permissions: {
    view: 'permissions',
    summary: 'Roles and API tokens; with `role` all decisions on one',
    parameters: [parameter('role', 'A role or an API token.')],
  },
  explain: {
    view: 'permissions',
    summary: 'Whether a role or user may send a request, and why',
    parameters: [
      parameter('role', 'A role or an API token; without `user` it is required.'),
      parameter('user', 'The name or mail address of a user.'),
      parameter('method', 'The method of the request.', true),
      parameter('path', 'The path of the request, with its query string.', true),
      parameter('body', 'The body of the request, as JSON.'),
    ],
  },
  operations: {
    view: 'operations',
    summary: 'Plugins, the pending migration, slow reads with advice, failed events',
    parameters: [],
  },
}

/** The data of the console's views, for callers who may see them. */
export function consolePaths(options: BuiltInOptions): Readonly<Record<string, PathItem>> {
  const views = consoleViewsOf(options.caller, options.project)
  const shown = Object.entries(VIEWS).filter(([, { view }]) => views.has(view))
  return Object.fromEntries(
    shown.map(([name, { summary, parameters }]) => [
      `/console/${name}`,
      {
        get: {
          ...{ operationId: `console.${name}`, summary, tags: ['Console'] },
          ...(parameters.length > 0 && { parameters }),
          responses: { 200: jsonResponse(summary, ANSWER), ...errorResponses('get', options) },
        },
      },
    ]),
  )
}

const ANSWER = closed({ data: { type: 'object' }, meta: { type: 'object' } }, ['data', 'meta'])
