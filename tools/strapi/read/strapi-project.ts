import type { LiteralMapping, LiteralValue } from './literal-value.ts'
import type { StrapiFacts } from './read-facts.ts'

/** A Strapi project, read from its files without running them. */
export interface StrapiProject {
  /** Absolute. */
  readonly folder: string
  /** The folder of uploaded files, absolute. */
  readonly uploads: string
  /** Files and folders in `public/` that Strapi serves, other than uploads. */
  readonly served: readonly string[]
  readonly name: string
  readonly version: 4 | 5
  readonly contentTypes: readonly StrapiType[]
  readonly components: readonly StrapiComponent[]
  /** The extended users-permissions user, if the project has one. */
  readonly user: StrapiHolder | null
  readonly config: StrapiConfig
  /** The files of the plugin config-sync; null without it. */
  readonly synced: StrapiFacts | null
  /** Files of config/env/production, whose settings are imported, and the names of other environments. */
  readonly environments: { readonly merged: readonly string[]; readonly unread: readonly string[] }
  /** The dependencies in package.json. */
  readonly packages: readonly string[]
  /** Those that are installed and say that they are plugins of Strapi, with the names of these plugins. */
  readonly pluginPackages: ReadonlyMap<string, string>
  /** Folders of plugins that only extend the admin panel; each ends with `/`. */
  readonly panelPlugins: readonly string[]
  /** Configurations of generated routes. */
  readonly routers: readonly StrapiRouter[]
  readonly ownCode: readonly OwnCode[]
  /** Files that could not be read, with reasons. */
  readonly unreadable: readonly string[]
  /** Files that Strapi would not read as they are, and missing ones. */
  readonly irregular: readonly string[]
}

/** Common properties of content-types and components. */
export interface StrapiHolder {
  /** `api::article.article`, `shared.seo`. */
  readonly uid: string
  /** Relative to the project's folder. */
  readonly file: string
  /** The table name before shortening. */
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

/** The exported values of the modules of config/. */
export interface StrapiConfig {
  readonly server: LiteralValue
  readonly api: LiteralValue
  readonly plugins: LiteralValue
  readonly middlewares: LiteralValue
  readonly admin: LiteralValue
}

/** Custom code of the project: a file that Strapi's generator did not write. */
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
    | 'config'
    | 'migration'
    | 'patch'
  /** Relative to the project's folder. */
  readonly file: string
  /** The API that it belongs to, if any. */
  readonly api?: string
}

/** The generated routes of a content-type with options: `createCoreRouter(uid, options)`. */
export interface StrapiRouter {
  readonly uid: string
  readonly options: LiteralMapping
}
