import type { ServedApp } from '../../core/app/serve-app.ts'
import type { ContentType } from '../../core/model/model.ts'
import type { Paint } from './paint.ts'
import { describeDatabase, modeOf } from './project-database.ts'

/** Summarises a started server, with URLs that open in a browser. */
export async function printBanner(served: ServedApp, paint: Paint): Promise<string> {
  const { project, model, plugins, access } = served.blueprint()
  const { settings } = project
  const mode = modeOf(process.env)
  const types = [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  const counts = [
    count(types.length, 'content-type'),
    count(model.components.size, 'component'),
    count(Object.keys(settings.roles).length, 'role'),
    count(plugins.files.length, 'plugin'),
  ]
  const url = browsable(served.url)
  const readable = types.filter(type => access.publicCaller.grants.allows(type.key, 'find'))
  const rest = [...readable, ...types]
    .slice(0, 1)
    .map(type => `${url}${settings.rest.prefix}/${pathOf(type)}`)
  const hasPlayground = mode === 'development' || settings.graphql.config.playgroundAlways
  const endpoints = Object.keys(settings.graphql.endpoints).map(path => url + path)
  const rows = [
    ['Mode', mode],
    ['Database', await describeDatabase(project)],
    ['Project', counts.join(', ')],
    ...rest.map(address => ['REST', link(paint, address)]),
    ...endpoints.map(address => ['GraphQL', hasPlayground ? link(paint, address) : address]),
  ]
  const lines = rows.map(([name = '', value = '']) => `  ${paint('dim', name.padEnd(9))} ${value}\n`)
  return `\n  ${paint('bold', settings.name)}\n${lines.join('')}\n`
}

const pathOf = ({ kind, key, pluralApiId }: ContentType): string => (kind === 'single' ? key : pluralApiId)

const link = (paint: Paint, address: string): string => paint('green', address)

/** 0.0.0.0 and :: are all addresses of the machine; a browser opens one. */
const browsable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//localhost:')

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
