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

/** Packages of the project that come typed into extensions: `nexus: typeof import('nexus')`. */
export interface Libraries extends Filled {}

export type PolicyName = keyof Policies extends never ? string : Extract<keyof Policies, string>

export type MiddlewareName = keyof Middlewares extends never ? string : Extract<keyof Middlewares, string>

/** A policy by its name; with its config, where it takes one. */
export type NamedPolicy = {
  [Name in PolicyName]: Named<Name, 'config', Name extends keyof Policies ? Policies[Name] : unknown>
}[PolicyName]

/** A middleware by its name; with its options, where it takes some. */
export type NamedMiddleware = {
  [Name in MiddlewareName]: Named<
    Name,
    'options',
    Name extends keyof Middlewares ? Middlewares[Name] : unknown
  >
}[MiddlewareName]

/** What asks for nothing may be named alone. */
type Named<Name, Key extends string, Given> =
  Record<never, never> extends Given
    ? Name | ({ readonly name: Name } & { readonly [Only in Key]?: Given })
    : { readonly name: Name } & { readonly [Only in Key]: Given }
