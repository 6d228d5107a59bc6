import type { Caller } from '../../access/caller.ts'
import type { ContentType } from '../../model/model.ts'
import type { Ability } from '../ability.ts'
import type {
  FieldOf,
  FiltersOf,
  Found,
  PopulateOf,
  SortOf,
  TermsOf,
  TypeName,
  TypeTerms,
} from '../document-types.ts'

/**
 * The documents of a content-type, by its uid or its key, as REST and GraphQL have them. Throws RequestFault for
 * a name that is none, with the nearest one that is.
 */
export type DocumentsApi = <const Name extends TypeName>(name: Name) => DocumentActions<TermsOf<Name>>

/**
 * What can be done with the documents of one content-type. Values are as REST gives and takes them; status is
 * `draft` where nothing is said. Every action rejects with a RequestFault: its `fault` has the code, the message
 * and the details of a REST answer.
 */
export interface DocumentActions<Terms extends TypeTerms> {
  findMany<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params?: ListParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field>[]>
  /** The first of the list; null where it is empty. */
  findFirst<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params?: FirstParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  /** Null where there is no such document to see. */
  findOne<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: OneParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  count(params?: CountParams<Terms>): Promise<number>
  create<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: CreateParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field>>
  /** Null where there is no such document; a single type's is made. */
  update<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: UpdateParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  /** One locale (the default one), or all with `*`. */
  delete<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** The whole draft, of one locale or all with `*`. Answers the published versions. */
  publish<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** Answers the drafts that stay. */
  unpublish<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** Makes the draft what the published version is. Answers the drafts. */
  discardDraft<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** The same within the permissions of somebody: `state.ability` of a context. Without it everything is allowed. */
  as(who: Ability | Caller): DocumentActions<Terms>
}

export type DocumentAction = Exclude<keyof DocumentActions<TypeTerms>, 'as'>

/** Which documents an action changed, and each of their versions that it answers, a locale each. */
export interface Changed<Terms extends TypeTerms, Populate = never, Field extends string = string> {
  /** null: of a single type that has no document. */
  readonly documentId: Terms['kind'] extends 'single' ? string | null : string
  readonly entries: readonly Found<Terms, Populate, Field>[]
}

interface AnswerParams<Populate, Field extends string> {
  readonly populate?: Populate
  readonly fields?: readonly Field[] | '*'
}

interface Versioned {
  readonly status?: 'draft' | 'published'
  readonly locale?: string
}

interface Filtered<Terms extends TypeTerms> {
  readonly filters?: FiltersOf<Terms>
  /** A text to be found in any text, number or uid attribute. */
  readonly _q?: string
  readonly publicationFilter?: string
}

export interface CountParams<Terms extends TypeTerms> extends Filtered<Terms>, Omit<Versioned, 'locale'> {
  /** `*`: of every locale. */
  readonly locale?: string | readonly string[]
}

export interface FirstParams<Terms extends TypeTerms, Populate, Field extends string>
  extends CountParams<Terms>,
    AnswerParams<Populate, Field> {
  readonly sort?: SortOf<Terms>
}

export interface ListParams<Terms extends TypeTerms, Populate, Field extends string>
  extends FirstParams<Terms, Populate, Field> {
  readonly pagination?: PageParams
  readonly start?: number
  readonly limit?: number
}

/** Without one, all documents are answered. */
export type PageParams =
  | { readonly page?: number; readonly pageSize?: number }
  | { readonly start?: number; readonly limit?: number }

/** `documentId` may be left out for a single type. */
type Named<Terms extends TypeTerms> = Terms['kind'] extends 'single'
  ? { readonly documentId?: string }
  : { readonly documentId: string }

export type OneParams<Terms extends TypeTerms, Populate, Field extends string> = Named<Terms> &
  Versioned &
  AnswerParams<Populate, Field>

export interface CreateParams<Terms extends TypeTerms, Populate, Field extends string>
  extends Versioned,
    AnswerParams<Populate, Field> {
  readonly data: Terms['input'] &
    Required<Pick<Terms['input'], Extract<keyof Terms['input'], Terms['required']>>>
}

export type UpdateParams<Terms extends TypeTerms, Populate, Field extends string> = OneParams<
  Terms,
  Populate,
  Field
> & { readonly data: Terms['input'] }

export type VersionParams<Terms extends TypeTerms, Populate, Field extends string> = Named<Terms> &
  AnswerParams<Populate, Field> & { readonly locale?: string }

/** What a document middleware sees: one action, of REST or of code. */
export interface DocumentContext {
  readonly uid: string
  readonly contentType: ContentType
  readonly action: DocumentAction
  /** As the action takes them; what stands here when `next` is called is what is done. */
  params: ContextParams
}

/** Parameters of any action. Over REST, what stands in a query string is text. */
export interface ContextParams {
  documentId?: string
  data?: Record<string, unknown>
  filters?: Record<string, unknown>
  [name: string]: unknown
}

/**
 * Runs round every document action; what it returns is the action's answer (documents as plain values). `next`
 * runs what is inside, and rejects as the action does.
 */
export type DocumentMiddleware = (context: DocumentContext, next: () => Promise<unknown>) => unknown

/** One document action, for the middlewares to run round. */
export interface DocumentStep {
  readonly type: ContentType
  readonly action: DocumentAction
  readonly params: Readonly<Record<string, unknown>>
  /** Does it with what they made of its parameters. */
  perform(params: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** All document middlewares round one action; answers what they answer. */
export type AroundDocuments = (step: DocumentStep) => Promise<unknown>
