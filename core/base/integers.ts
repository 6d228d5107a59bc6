/** The range of PostgreSQL's `integer`, which is that of GraphQL's `Int`. */
export const INTEGER = { least: -2_147_483_648, most: 2_147_483_647 } as const

/** The range of PostgreSQL's `bigint`. */
export const BIG_INTEGER = { least: -(2n ** 63n), most: 2n ** 63n - 1n } as const
