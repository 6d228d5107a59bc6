import type { LiteralMapping, LiteralValue } from './literal-value.ts'

/** A Strapi project, as its files say it. Nothing of it was run. */
export interface StrapiProject {
  /** Absolute. */
  readonly folder: string
  readonly name: string
  readonly version: 4 | 5
  readonly contentTypes: readonly StrapiType[]
  readonly components: readonly StrapiComponent[]
  /** The extended users-permissions user, where the project has one. */
  readonly user: StrapiHolder | null
  readonly config: StrapiConfig
  /** There are settings that depend on NODE_ENV. */
  readonly hasEnvironments: boolean
  /** Packages that package.json names. */
  readonly packages: readonly string[]
  /** What is said of generated routes. */
  readonly routers: readonly StrapiRouter[]
  readonly ownCode: readonly OwnCode[]
  /** Files that should have told something and could not be read. */
  readonly unreadable: readonly string[]
}

/** What content-types and components have in common. */
export interface StrapiHolder {
  /** `api::article.article`, `shared.seo`. */
  readonly uid: string
  /** Relative to the project's folder. */
  readonly file: string
  /** The table's name, before Strapi shortens it. */
  readonly collectionName: string
  readonly schema: LiteralMapping
  readonly attributes: ReadonlyMap<string, LiteralMapping>
}

export interface StrapiType extends StrapiHolder {
  readonly api: string
  readonly singularName: string
  readonly pluralName: string
}

export type StrapiComponent = StrapiHolder

/** What the modules of config/ export. */
export interface StrapiConfig {
  readonly server: LiteralValue
  readonly api: LiteralValue
  readonly plugins: LiteralValue
  readonly middlewares: LiteralValue
}

/** Code that the project wrote itself, beyond what Strapi's generator makes. */
export interface OwnCode {
  readonly kind:
    | 'controller'
    | 'service'
    | 'route'
    | 'policy'
    | 'middleware'
    | 'lifecycle'
    | 'index'
    | 'extension'
    | 'plugin'
    | 'cron'
  /** Relative to the project's folder. */
  readonly file: string
  /** The API that it belongs to, where it belongs to one. */
  readonly api?: string
}

/** The generated routes of a content-type with options: `createCoreRouter(uid, options)`. */
export interface StrapiRouter {
  readonly uid: string
  readonly options: LiteralMapping
}
