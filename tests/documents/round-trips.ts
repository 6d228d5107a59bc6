import pg from 'pg'

/** How often work sends something to the database and waits for the answer: counted where the driver writes to its socket. */
export async function roundTrips(work: () => Promise<unknown>): Promise<number> {
  const { query } = pg.Client.prototype
  let count = 0
  pg.Client.prototype.query = function counted(this: pg.Client, ...sent: unknown[]) {
    count++
    return Reflect.apply(query, this, sent)
  } as typeof query
  await work().finally(() => {
    pg.Client.prototype.query = query
  })
  return count
}
