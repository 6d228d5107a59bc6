/**
 * What is known of one project at compile time. Empty here: `plinth types` fills these interfaces from
 * project.yaml (`declare module 'plinth' { … }`), and until it has, any name goes and values are unknown.
 */
type Filled = Record<never, never>

/** By uid, a TypeTerms each. */
export interface ContentTypes extends Filled {}

/** By uid, a ComponentTerms each. */
export interface Components extends Filled {}

/** The policies of the project, by name. */
export interface Policies extends Filled {}

/** The middlewares of the project, by name. */
export interface Middlewares extends Filled {}

export type PolicyName = keyof Policies extends never ? string : Extract<keyof Policies, string>

export type MiddlewareName = keyof Middlewares extends never ? string : Extract<keyof Middlewares, string>
