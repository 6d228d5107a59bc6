// The public names, kept by hand: everything else in here may change from one version to the next.
export { type Blueprint, compileApp } from './app/compile-app.ts'
export { type PlinthHandler, type PlinthOptions, plinth } from './app/express-handler.ts'
export { type ServedApp, type ServeOptions, serveApp } from './app/serve-app.ts'
export { printStartFault, type StartFault } from './app/start-fault.ts'
export type { Failed, Ok, Result } from './base/result.ts'
export type { RowModel, Sequelize, SequelizeTransaction } from './database/open-models.ts'
export type { DocumentEvent, EventHandler, EventName, EventPattern } from './events/events.ts'
export { type Diagnostic, type Path, printDiagnostic, type SourceLocation } from './faults/diagnostic.ts'
export type { MailAddress, MailErrorKind, SentMail } from './mail/mail.ts'
export type { MailEnvelope, MailRecipient, TemplateMail, TextMail } from './mail/open-mail.ts'
export type { MailValue } from './mail/render-mail.ts'
export type {
  ByteRange,
  FileToPut,
  StorageDefinition,
  StorageOptions,
  StorageProvider,
} from './media/storage/custom-storage.ts'
export type { MigrationTools, Sql } from './migrate/custom-migrations/custom-migration.ts'
export type { Ability } from './plugins/ability.ts'
export type {
  GraphqlContext,
  HttpContext,
  LogFields,
  PluginApp,
  PluginLog,
  PluginRequest,
  PluginResponse,
  PolicyContext,
  ResolverContext,
  ResolverInfo,
  RestContext,
  RestQuery,
  RouteInfo,
  SendOptions,
} from './plugins/context.ts'
export type {
  AnyDocument,
  Found,
  Link,
  LinkInput,
  Morph,
  MorphEntry,
  Part,
  PartInput,
  Zone,
  ZoneInput,
} from './plugins/document-types.ts'
export type {
  DocumentsService,
  Extension,
  ExtensionDefinition,
  ExtensionServices,
  GeneratedAction,
  GeneratedBody,
  MountedRequest,
  MountOptions,
  RestService,
  RouteHandler,
  RouteMethod,
  RouteMiddlewareUse,
  RouteOptions,
  RoutePolicy,
} from './plugins/extension.ts'
export type {
  ExpressMiddleware,
  Middleware,
  MiddlewareDefinition,
  ResolveField,
  ResolverMiddleware,
  RouteMiddleware,
} from './plugins/middleware.ts'
export type { Migration, MigrationOptions } from './plugins/migration.ts'
export type { PluginSchema } from './plugins/plugin-module.ts'
export {
  AbilityError,
  ApplicationError,
  BadRequestError,
  ConflictError,
  defineExtension,
  defineMiddleware,
  defineMigration,
  definePolicy,
  ForbiddenError,
  MailError,
  NotFoundError,
  PayloadTooLargeError,
  PolicyError,
  RateLimitError,
  subject,
  UnauthorizedError,
  UnavailableError,
  ValidationError,
} from './plugins/plugin-names.ts'
export type {
  Policy,
  PolicyAnswer,
  PolicyCheck,
  PolicyDefinition,
} from './plugins/policy.ts'
export type * from './plugins/registry.ts'
export type { RequestState, RequestUser } from './plugins/request-state.ts'
export type {
  ActionCaller,
  DocumentActions,
  DocumentContext,
  DocumentMiddleware,
  DocumentsApi,
  PreviousDocument,
  PreviousParams,
} from './plugins/services/documents-api.ts'
export type {
  GeneratedResolver,
  GraphqlExtension,
  GraphqlService,
  GraphqlTools,
  Nexus,
  NexusBlock,
  NexusLike,
  Resolver,
  ResolverMiddlewareUse,
  ResolverOptions,
  ResolverPolicy,
  ShadowActionName,
  ShadowField,
  ShadowType,
  TypeResolvers,
} from './plugins/services/graphql-service.ts'
export type { PluginMail } from './plugins/services/mail-api.ts'
export type { AnyFile, PluginMedia, SignOptions } from './plugins/services/media-api.ts'
export type { MediaService } from './plugins/services/media-service.ts'
