import type { Components, ContentTypes } from './registry.ts'

/** What a component answers and takes. */
export interface ComponentTerms {
  /** Attributes that every answer has, by name: their values. */
  readonly fields: object
  /** Attributes that are answered where they are populated: a Link, Part or Zone each. */
  readonly populate: object
  /** What a write may say. */
  readonly input: object
}

/** What `plinth types` writes down of a content-type. */
export interface TypeTerms extends ComponentTerms {
  readonly key: string
  readonly kind: 'collection' | 'single'
  /** What a create must say. */
  readonly required: string
}

/** Leads to documents of another content-type: a relation, media, localizations. */
export interface Link<Uid extends string, Many extends boolean> {
  readonly kind: 'link'
  readonly target: Uid
  readonly many: Many
}

/** A component attribute. */
export interface Part<Uid extends string, Many extends boolean> {
  readonly kind: 'component'
  readonly target: Uid
  readonly many: Many
}

/** A dynamic zone: a list of components that say in `__component` which they are. */
export interface Zone<Uids extends string> {
  readonly kind: 'zone'
  readonly target: Uids
}

/** Of types that nothing is known of. */
export interface AnyTerms extends TypeTerms {
  readonly fields: Record<string, unknown>
  readonly populate: Record<string, never>
  readonly input: Record<string, unknown>
  readonly required: never
}

export interface AnyDocument {
  readonly id: number
  readonly documentId: string
  readonly [attribute: string]: unknown
}

/** A uid (`api::article.article`) or the key in project.yaml (`article`). */
export type TypeName = keyof ContentTypes extends never ? string : Extract<keyof ContentTypes, string> | Keys

type Keys = { [Uid in keyof ContentTypes]: KeyOf<ContentTypes[Uid]> }[keyof ContentTypes]

type KeyOf<Terms> = Terms extends { readonly key: infer Key extends string } ? Key : never

export type TermsOf<Name extends string> = Name extends keyof ContentTypes
  ? Known<ContentTypes[Name]>
  : Known<{ [Uid in keyof ContentTypes]: Named<ContentTypes[Uid], Name> }[keyof ContentTypes]>

type Named<Terms, Key> = Terms extends { readonly key: Key } ? Terms : never

type Known<Terms> = [Terms] extends [never] ? AnyTerms : Terms extends TypeTerms ? Terms : AnyTerms

export type ComponentOf<Uid extends string> = Uid extends keyof Components
  ? Components[Uid] extends ComponentTerms
    ? Components[Uid]
    : AnyTerms
  : AnyTerms

/** The type behind an attribute that can be populated. */
export type Behind<End> =
  End extends Link<infer Uid, boolean>
    ? TermsOf<Uid>
    : End extends Part<infer Uid, boolean> | Zone<infer Uid>
      ? ComponentOf<Uid>
      : AnyTerms

type IsAny<Terms extends ComponentTerms> = string extends keyof Terms['fields'] ? true : false

export type FieldOf<Terms extends ComponentTerms> = Extract<keyof Terms['fields'], string>
export type EndOf<Terms extends ComponentTerms> = Extract<keyof Terms['populate'], string>

/** `*`, names (dotted ones lead further), or an object of names with options. */
export type PopulateOf<Terms extends ComponentTerms> =
  IsAny<Terms> extends true
    ? string | readonly string[] | Readonly<Record<string, unknown>>
    : '*' | PathOf<Terms> | readonly PathOf<Terms>[] | PopulateMap<Terms>

type PathOf<Terms extends ComponentTerms> = EndOf<Terms> | `${EndOf<Terms>}.${string}`

type PopulateMap<Terms extends ComponentTerms> = {
  readonly [Name in EndOf<Terms>]?: Terms['populate'][Name & keyof Terms['populate']] extends infer End
    ? boolean | (End extends Zone<infer Uids> ? ZoneOptions<Uids> : PopulateOptions<Behind<End>>)
    : never
}

export interface PopulateOptions<Terms extends ComponentTerms> {
  readonly fields?: readonly FieldOf<Terms>[]
  readonly filters?: FiltersOf<Terms>
  readonly sort?: SortOf<Terms>
  readonly populate?: PopulateOf<Terms>
  /** The number of them instead of them. */
  readonly count?: boolean
}

interface ZoneOptions<Uids extends string> {
  readonly populate?: '*'
  readonly on?: {
    readonly [Uid in Uids]?:
      | boolean
      | Pick<PopulateOptions<ComponentOf<Uid>>, 'fields' | 'filters' | 'sort' | 'populate'>
  }
}

/** `title`, `title:desc`, `author.name:asc`, lists of these, `{ title: 'desc' }`. */
export type SortOf<Terms extends ComponentTerms> =
  IsAny<Terms> extends true
    ? string | readonly string[] | Readonly<Record<string, unknown>>
    : SortWord<Terms> | readonly (SortWord<Terms> | SortMap<Terms>)[] | SortMap<Terms>

type Direction = 'asc' | 'desc'
type SortWord<Terms extends ComponentTerms> =
  | FieldOf<Terms>
  | `${FieldOf<Terms>}:${Direction}`
  | `${EndOf<Terms>}.${string}`
type SortMap<Terms extends ComponentTerms> = { readonly [Name in FieldOf<Terms>]?: Direction } & {
  readonly [Name in EndOf<Terms>]?: unknown
}

export type FiltersOf<Terms extends ComponentTerms> =
  IsAny<Terms> extends true ? Readonly<Record<string, unknown>> : KnownFilters<Terms>

type KnownFilters<Terms extends ComponentTerms> = {
  readonly [Name in FieldOf<Terms>]?: Condition<Terms['fields'][Name & keyof Terms['fields']]>
} & {
  readonly [Name in EndOf<Terms>]?: FiltersOf<Behind<Terms['populate'][Name & keyof Terms['populate']]>>
} & {
  readonly $and?: readonly KnownFilters<Terms>[]
  readonly $or?: readonly KnownFilters<Terms>[]
  readonly $not?: KnownFilters<Terms>
}

type Condition<Value> = Value | readonly Value[] | Operators<Value>

interface Operators<Value> {
  readonly $eq?: Value
  readonly $ne?: Value
  readonly $lt?: Value
  readonly $lte?: Value
  readonly $gt?: Value
  readonly $gte?: Value
  readonly $in?: readonly Value[]
  readonly $notIn?: readonly Value[]
  readonly $between?: readonly [Value, Value]
  readonly $null?: boolean
  readonly $notNull?: boolean
  readonly $eqi?: string
  readonly $nei?: string
  readonly $contains?: string
  readonly $notContains?: string
  readonly $containsi?: string
  readonly $notContainsi?: string
  readonly $startsWith?: string
  readonly $startsWithi?: string
  readonly $endsWith?: string
  readonly $endsWithi?: string
  readonly $not?: Condition<Value>
}

/** A document as an action answers it: its fields, and of its other attributes those that were populated. */
export type Found<Terms extends ComponentTerms, Populate = never, Field extends string = string> =
  IsAny<Terms> extends true ? AnyDocument : Flat<Picked<Terms, Field> & Populated<Terms, Populate>>

type Flat<Value> = { [Key in keyof Value]: Value[Key] }

/** Without a choice of fields, all of them. */
type Picked<Terms extends ComponentTerms, Field extends string> = string extends Field
  ? Terms['fields']
  : Pick<Terms['fields'], Extract<keyof Terms['fields'], Field | 'id' | 'documentId'>>

type Populated<Terms extends ComponentTerms, Populate> = [Populate] extends [never]
  ? unknown
  : Populate extends '*'
    ? { [Name in keyof Terms['populate']]: AtEnd<Terms['populate'][Name], true> }
    : Populate extends string
      ? Words<Terms, Populate>
      : Populate extends readonly (infer Word)[]
        ? Words<Terms, Word>
        : { [Name in keyof Terms['populate'] as Asked<Populate, Name>]: Valued<Terms, Populate, Name> }

type Words<Terms extends ComponentTerms, Word> = {
  [Name in Extract<keyof Terms['populate'], Head<Word>>]: AtEnd<Terms['populate'][Name], true>
}

type Head<Word> = Word extends `${infer Name}.${string}` ? Name : Word

type Asked<Populate, Name> = Name extends keyof Populate
  ? Populate[Name] extends false | undefined
    ? never
    : Name
  : never

type Valued<Terms extends ComponentTerms, Populate, Name> = AtEnd<
  Terms['populate'][Name & keyof Terms['populate']],
  Populate[Name & keyof Populate]
>

type AtEnd<End, Options> = Options extends { readonly count: true }
  ? { count: number }
  : End extends Zone<infer Uids>
    ? OfZone<Uids>[]
    : End extends { readonly many: true }
      ? Inner<End, Options>[]
      : Inner<End, Options> | null

type Inner<End, Options> = Found<Behind<End>, PopulateIn<Options>, FieldsIn<Options>>

type PopulateIn<Options> = Options extends { readonly populate: infer Populate } ? Populate : never

type FieldsIn<Options> = Options extends { readonly fields: readonly (infer Field extends string)[] }
  ? Field
  : string

type OfZone<Uids extends string> = Uids extends string
  ? { __component: Uids } & Found<ComponentOf<Uids>>
  : never

/** What a write says of a link: documents by their documentId, in a list or one by one. */
export type LinkInput<Many extends boolean> =
  | LinkTarget
  | null
  | (Many extends true ? readonly LinkTarget[] : never)
  | {
      readonly set?: readonly LinkTarget[] | null
      readonly connect?: LinkConnection | readonly LinkConnection[]
      readonly disconnect?: LinkTarget | readonly LinkTarget[]
    }

type LinkTarget =
  | string
  | number
  | { readonly documentId: string; readonly locale?: string; readonly status?: 'draft' | 'published' }
  | { readonly id: number }

type LinkConnection =
  | LinkTarget
  | {
      readonly documentId: string
      readonly position: {
        readonly before?: string
        readonly after?: string
        readonly start?: true
        readonly end?: true
      }
    }

/** A component in a write; with its `id`, the one that is there is changed. */
export type PartInput<Uid extends string> =
  IsAny<ComponentOf<Uid>> extends true
    ? Readonly<Record<string, unknown>>
    : ComponentOf<Uid>['input'] & { readonly id?: number }

/** One component of a dynamic zone in a write. */
export type ZoneInput<Uids extends string> = Uids extends string
  ? PartInput<Uids> & { readonly __component: Uids }
  : never
