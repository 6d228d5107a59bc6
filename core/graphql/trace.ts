import {
  defaultFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  responsePathAsArray,
} from 'graphql'

/** How long an operation and each of its resolvers took, in the form of Apollo's tracing, version 1. Nanoseconds. */
export interface Trace {
  readonly version: 1
  readonly startTime: string
  readonly endTime: string
  readonly duration: number
  readonly execution: { readonly resolvers: readonly ResolverTime[] }
}

interface ResolverTime {
  readonly path: readonly (string | number)[]
  readonly parentType: string
  readonly fieldName: string
  readonly returnType: string
  readonly startOffset: number
  readonly duration: number
}

/** Takes the times of one operation. */
export interface Stopwatch {
  readonly began: Date
  readonly at: bigint
  readonly resolvers: ResolverTime[]
}

export const openStopwatch = (): Stopwatch => ({
  began: new Date(),
  at: process.hrtime.bigint(),
  resolvers: [],
})

export const readStopwatch = ({ began, at, resolvers }: Stopwatch): Trace => ({
  version: 1,
  startTime: began.toISOString(),
  endTime: new Date().toISOString(),
  duration: since(at),
  execution: { resolvers },
})

const since = (at: bigint): number => Number(process.hrtime.bigint() - at)

/** The context of a resolver, as far as tracing goes. */
interface Timed {
  readonly stopwatch?: Stopwatch
}

/** From now on every resolver of the schema tells its time, where somebody takes it. */
export function traceSchema(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      const { resolve = defaultFieldResolver } = field
      field.resolve = (parent, given, context: Timed, info) =>
        timed(() => resolve(parent, given, context, info), info, context.stopwatch)
    }
  }
}

function timed(run: () => unknown, info: GraphQLResolveInfo, stopwatch: Stopwatch | undefined): unknown {
  if (!stopwatch) return run()
  const startOffset = since(stopwatch.at)
  const end = () => stopwatch.resolvers.push(timeOf(info, startOffset, since(stopwatch.at) - startOffset))
  const found = run()
  if (found instanceof Promise) return found.finally(end)
  end()
  return found
}

const timeOf = (info: GraphQLResolveInfo, startOffset: number, duration: number): ResolverTime => ({
  path: responsePathAsArray(info.path),
  parentType: info.parentType.name,
  fieldName: info.fieldName,
  returnType: String(info.returnType),
  startOffset,
  duration,
})
