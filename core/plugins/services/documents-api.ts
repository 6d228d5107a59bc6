import type { Caller } from '../../access/caller.ts'
import type { ContentType } from '../../model/model.ts'
import type { PublicationFilter } from '../../query/query.ts'
import type { Ability } from '../ability.ts'
import type {
  FieldOf,
  FiltersOf,
  Found,
  PopulateOf,
  SortOf,
  TermsOf,
  TypeName,
  TypeOptions,
  TypeUid,
} from '../document-types.ts'
import type { RequestState } from '../request-state.ts'

/**
 * Documents of a content-type, by its uid or its key. Throws a RequestFault for an unknown name, with the nearest known
 * one.
 */
export type DocumentsApi = <const Name extends TypeName>(name: Name) => DocumentActions<TermsOf<Name>>

/**
 * Actions on documents of one content-type. Values have the same form as in REST; the default status is `draft`. Actions
 * reject with a RequestFault, whose `fault` has code, message and details of a REST response.
 */
export interface DocumentActions<Terms extends TypeOptions> {
  findMany<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params?: ListParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field>[]>
  /** The first of the list; null if it is empty. */
  findFirst<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params?: FirstParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  /** null if the document is missing or hidden, or does not match. */
  findOne<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: FindOneParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  count(params?: CountParams<Terms>): Promise<number>
  create<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: CreateParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field>>
  /** null if the document is missing; the document of a single type is created. */
  update<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: UpdateParams<Terms, Populate, Field>): Promise<Found<Terms, Populate, Field> | null>
  /** Deletes one locale (by default the default locale), or all with `*`. */
  delete<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /**
   * Updates all documents that match when it starts, in one transaction: all of them, or none. Document middlewares see one
   * `updateMany`.
   */
  updateMany(params: UpdateManyParams<Terms>): Promise<ManyChanged>
  /** Deletes all documents that match when it starts, in one transaction. */
  deleteMany(params: DeleteManyParams<Terms>): Promise<ManyChanged>
  /** Publishes the draft of one locale, or of all with `*`. Returns the published versions. */
  publish<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** Removes the published version. Returns the remaining drafts. */
  unpublish<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** Resets the draft to the published version. Returns the drafts. */
  discardDraft<
    const Populate extends PopulateOf<Terms> = never,
    const Field extends FieldOf<Terms> = FieldOf<Terms>,
  >(params: VersionParams<Terms, Populate, Field>): Promise<Changed<Terms, Populate, Field>>
  /** The same actions within a caller's permissions (`state.ability` of a context). Without `as` everything is allowed. */
  as(who: Ability | Caller): DocumentActions<Terms>
}

export type DocumentAction = Exclude<keyof DocumentActions<TypeOptions>, 'as'>

/** The document that an action changed, and its resulting versions, one per locale. */
export interface Changed<Terms extends TypeOptions, Populate = never, Field extends string = string> {
  /** null: a single type without document. */
  readonly documentId: Terms['kind'] extends 'single' ? string | null : string
  readonly entries: readonly Found<Terms, Populate, Field>[]
}

export interface ManyChanged {
  readonly count: number
}

/** `filters` is required: `{}` selects all documents. */
export interface DeleteManyParams<Terms extends TypeOptions> extends Filtered<Terms> {
  readonly filters: FiltersOf<Terms>
  /** The locale whose versions are compared and deleted. */
  readonly locale?: string | undefined
}

export interface UpdateManyParams<Terms extends TypeOptions> extends DeleteManyParams<Terms>, Versioned {
  readonly data: Terms['input']
}

interface AnswerParams<Populate, Field extends string> {
  readonly populate?: Populate
  readonly fields?: readonly Field[] | '*'
}

interface Versioned {
  readonly status?: 'draft' | 'published' | undefined
  readonly locale?: string | undefined
}

interface Filtered<Terms extends TypeOptions> {
  readonly filters?: FiltersOf<Terms>
  /** The text occurs in a text, number or uid attribute. */
  readonly _q?: string | undefined
  readonly publicationFilter?: PublicationFilter | undefined
}

export interface CountParams<Terms extends TypeOptions> extends Filtered<Terms>, Omit<Versioned, 'locale'> {
  /** `*`: every locale. */
  readonly locale?: string | readonly string[] | undefined
  /** Full-text search; only of a type with `search:`. */
  readonly search?: string | undefined
}

export interface FirstParams<Terms extends TypeOptions, Populate, Field extends string>
  extends CountParams<Terms>,
    AnswerParams<Populate, Field> {
  /** With `search`, the default is `relevance`. */
  readonly sort?: SortOf<Terms> | 'relevance' | undefined
  /** Searched attributes to return in `_highlight`, with marked matches. */
  readonly highlight?: string | readonly string[] | undefined
}

export interface ListParams<Terms extends TypeOptions, Populate, Field extends string>
  extends FirstParams<Terms, Populate, Field> {
  readonly pagination?: PageParams | undefined
  readonly start?: number | undefined
  readonly limit?: number | undefined
}

/** Without pagination all documents are returned. */
export type PageParams =
  | { readonly page?: number; readonly pageSize?: number }
  | { readonly start?: number; readonly limit?: number }

/** `documentId` is optional for a single type, and without the types of a project, where any type may be one. */
type DocumentReference<Terms extends TypeOptions> = 'single' extends Terms['kind']
  ? { readonly documentId?: string }
  : { readonly documentId: string }

export type OneParams<Terms extends TypeOptions, Populate, Field extends string> = DocumentReference<Terms> &
  Versioned &
  AnswerParams<Populate, Field>

export type FindOneParams<Terms extends TypeOptions, Populate, Field extends string> = OneParams<
  Terms,
  Populate,
  Field
> &
  Filtered<Terms> &
  Pick<FirstParams<Terms, Populate, Field>, 'search' | 'highlight'>

export interface CreateParams<Terms extends TypeOptions, Populate, Field extends string>
  extends Versioned,
    AnswerParams<Populate, Field> {
  readonly data: Terms['input'] &
    Required<Pick<Terms['input'], Extract<keyof Terms['input'], Terms['required']>>>
}

export type UpdateParams<Terms extends TypeOptions, Populate, Field extends string> = OneParams<
  Terms,
  Populate,
  Field
> & { readonly data: Terms['input'] }

export type VersionParams<
  Terms extends TypeOptions,
  Populate,
  Field extends string,
> = DocumentReference<Terms> & AnswerParams<Populate, Field> & { readonly locale?: string | undefined }

/** Context of a document middleware: one action, of REST or of code. */
export interface DocumentContext {
  readonly uid: TypeUid
  readonly contentType: ContentType
  readonly action: DocumentAction
  /** Parameters of the action. Changes made before `next` is called take effect. */
  params: ContextParams
  /** The caller of the action; null: trusted code of the project, without `as(…)`. */
  readonly caller: ActionCaller | null
  /**
   * The document of `params.documentId` as it is before the action, with all attributes; null if there is none. It is
   * read at the first call, which must be made before `next()`.
   */
  previous(params?: PreviousParams): Promise<PreviousDocument | null>
}

/** The caller of an action: the `state` of its request. */
export type ActionCaller = Pick<RequestState, 'user' | 'role' | 'token' | 'ability'>

/** `status` and `locale` default to those that the action writes. */
export interface PreviousParams {
  readonly populate?: unknown
  readonly fields?: unknown
  readonly status?: 'draft' | 'published'
  readonly locale?: string
}

export type PreviousDocument = Readonly<Record<string, unknown>>

/** Parameters of any action. Over REST, parameters of the query string are strings. */
export interface ContextParams {
  documentId?: string
  data?: Record<string, unknown>
  filters?: Record<string, unknown>
  [name: string]: unknown
}

/**
 * Wraps every document action. Its return value is the result of the action (documents as plain values). `next` runs the
 * inner action, and rejects as the action does.
 */
export type DocumentMiddleware = (context: DocumentContext, next: () => Promise<unknown>) => unknown

/** One document action to be wrapped in middlewares. */
export interface DocumentCall {
  readonly type: ContentType
  readonly action: DocumentAction
  readonly params: Readonly<Record<string, unknown>>
  /** null: trusted code. */
  readonly caller: Caller | null
  /** Reads the document without regard to permissions. */
  read(params: Readonly<Record<string, unknown>>): Promise<unknown>
  /** Performs the action with the parameters as middlewares left them. */
  perform(params: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Runs an action wrapped in all document middlewares; resolves to their result. */
export type RunDocumentMiddlewares = (step: DocumentCall) => Promise<unknown>
