import type {
  AttributeDeclarations,
  ComponentUse,
  DynamicZoneDeclaration,
  MediaDeclaration,
  RelationDeclaration,
  ShadowCrudOptions,
} from './settings.ts'

type LinkDeclaration = RelationDeclaration | MediaDeclaration | ComponentUse | DynamicZoneDeclaration

/** All members of a union as one type: a key that only some members have is optional. */
type Merged<Union> = Pick<Union, keyof Union> & {
  readonly [Key in KeyOf<Union>]?: Union extends { readonly [K in Key]?: infer Value } ? Value : never
}

type KeyOf<Union> = Union extends unknown ? keyof Union : never

type ScalarAttributes = Exclude<AttributeDeclarations[string], LinkDeclaration>

/** An attribute that is stored in a column. The schema decides which keys a type has. */
export interface ScalarDeclaration extends Merged<ScalarAttributes> {
  /** Built-in attributes only. */
  readonly lowerCase?: true
}

export type ScalarType = ScalarDeclaration['type']

export type AttributeDeclaration = ScalarDeclaration | LinkDeclaration

/** Extensions can also disable actions that project.yaml does not name, such as `createLocalization`. */
export interface ShadowCrudDeclaration extends Omit<ShadowCrudOptions, 'actions'> {
  readonly actions: Readonly<Record<string, boolean>>
}
