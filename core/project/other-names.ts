/** Keys of Strapi and Apollo with their replacement here, by the path of the mapping. */
const ADVICE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'graphql.config': {
    apolloServer: 'it is called `serverOptions` here',
    landingPage:
      'the playground is shown in development; `playgroundAlways: true` shows it in production, too',
    maxLimit: 'it is called `amountLimit` here',
    artifacts: '`plinth types --schema` prints the schema',
    generateArtifacts: '`plinth types --schema` prints the schema',
  },
  'graphql.config.limits': {
    cost: 'nothing is estimated any more: `database.limits.bytes` and `database.limits.time` bound what is read',
    depth: 'use `graphql.config.depthLimit`',
    bytes: 'use `database.limits.bytes`',
  },
  'graphql.config.serverOptions': {
    playground: 'use `graphql.config.playgroundAlways`',
    landingPage: 'use `graphql.config.playgroundAlways`',
    debug: 'stack traces are in the log alone',
    formatError: 'errors have the form of the contract; a resolver can throw the errors of `plinth`',
    cors: 'use `server.cors`',
    path: 'use `graphql.config.endpoint`',
    bodyParserConfig: 'use `server.bodyLimit`',
    uploads: 'use `upload.sizeLimit`',
    persistedQueries: 'use `graphql.config.trustedDocuments`',
    documentStore: 'use `cache`, and `graphql.config.trustedDocuments`',
    cacheControl: 'responses are cached by the server itself: use `cache` at the top of the file',
    validationRules: 'use `graphql.config.depthLimit` and `graphql.config.limits`',
    parseOptions: 'use `graphql.config.limits.tokens`',
    depthLimit: 'use `graphql.config.depthLimit`',
    logger: 'use `server.logLevel`',
    nodeEnv: 'set the environment variable NODE_ENV',
    stopOnTerminationSignals: 'the server ends by itself on SIGTERM and SIGINT',
    hideSchemaDetailsFromClientErrors: 'errors name no part of the schema where `introspection` is off',
    context: 'use an extension (docs/plugins.md)',
    plugins: 'use an extension (docs/plugins.md)',
    schema: 'use an extension (docs/plugins.md)',
    typeDefs: 'use an extension (docs/plugins.md)',
    resolvers: 'use an extension (docs/plugins.md)',
    schemaDirectives: 'use an extension (docs/plugins.md)',
    dataSources: 'use an extension (docs/plugins.md)',
    rootValue: 'use an extension (docs/plugins.md)',
    fieldResolver: 'use an extension (docs/plugins.md)',
    subscriptions: 'there are none',
    mocks: 'there are none',
    gateway: 'there is none',
    apollo: 'there is no connection to Apollo GraphOS',
    engine: 'there is no connection to Apollo GraphOS',
    reporting: 'there is no connection to Apollo GraphOS',
  },
}

/** The advice for an unknown key; undefined if there is none. */
export function adviceFor(path: readonly (string | number)[], key: string): string | undefined {
  const known = ADVICE[path.join('.')]
  return known && Object.hasOwn(known, key) ? known[key] : undefined
}
