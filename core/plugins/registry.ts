import type { Model, ModelStatic, RowModel } from '../database/open-models.ts'

/**
 * Compile-time knowledge of a project. `plinth types` fills these interfaces from project.yaml
 * (`declare module 'plinth' { … }`). While they are empty, any name is accepted and values are unknown.
 */
type Filled = Record<never, never>

/** By uid, a TypeOptions each. */
export interface ContentTypes extends Filled {}

/** By uid, a ComponentOptions each. */
export interface Components extends Filled {}

/** The policies of the project, by name. */
export interface Policies extends Filled {}

/** The middlewares of the project, by name. */
export interface Middlewares extends Filled {}

/** The variables of each template in mails/, by its name. */
export interface Mails extends Filled {}

/** The rows of Sequelize models: by key of the content-type or uid of the component, the values by name. */
export interface ModelRows extends Filled {}

/** The Sequelize models of the project. */
export type Models = keyof ModelRows extends never
  ? Readonly<Record<string, RowModel>>
  : { readonly [Name in keyof ModelRows]: ModelStatic<RowOf<Extract<ModelRows[Name], object>>> }

/** An instance of a model: a row, with the methods of Sequelize. */
export type RowOf<Values extends object> = Model<Values, Partial<Values>> & Values

/** Types of packages of the project for extensions: `nexus: typeof import('nexus')`. */
export interface Libraries extends Filled {}

export type PolicyName = keyof Policies extends never ? string : Extract<keyof Policies, string>

export type MiddlewareName = keyof Middlewares extends never ? string : Extract<keyof Middlewares, string>

/** A policy by name, with its config if it takes one. */
export type NamedPolicy = {
  [Name in PolicyName]: Named<Name, 'config', Name extends keyof Policies ? Policies[Name] : unknown>
}[PolicyName]

/** A middleware by name, with its options if it takes some. */
export type NamedMiddleware = {
  [Name in MiddlewareName]: Named<
    Name,
    'options',
    Name extends keyof Middlewares ? Middlewares[Name] : unknown
  >
}[MiddlewareName]

/** The name alone suffices if nothing is required. */
type Named<Name, Key extends string, Given> =
  Record<never, never> extends Given
    ? Name | ({ readonly name: Name } & { readonly [Only in Key]?: Given })
    : { readonly name: Name } & { readonly [Only in Key]: Given }
