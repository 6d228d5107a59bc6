/** What the playground's page may load: nothing of another server. GraphiQL writes styles into its page. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

/** The page of GraphiQL. `folder`: the address of its files. */
export const printPage = (folder: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>GraphiQL</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${folder}/graphiql.css" />
    <style>body { margin: 0 } #graphiql { height: 100dvh }</style>
  </head>
  <body>
    <div id="graphiql">Loading …</div>
    <script src="${folder}/react.js"></script>
    <script src="${folder}/react-dom.js"></script>
    <script src="${folder}/graphiql.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`

/** Starts GraphiQL on the page's own address; a query there is the first to be seen. */
export const START_SCRIPT = `const asked = new URLSearchParams(location.search)
const fetcher = GraphiQL.createFetcher({ url: location.pathname })
const graphiql = React.createElement(GraphiQL, {
  fetcher,
  query: asked.get('query') ?? undefined,
  variables: asked.get('variables') ?? undefined,
})
ReactDOM.createRoot(document.getElementById('graphiql')).render(graphiql)
`
