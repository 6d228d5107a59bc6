/** What `work` resolves to; rejects where it does, or where it takes longer than so many milliseconds. */
export async function bounded<Value>(
  work: () => Value | Promise<Value>,
  milliseconds: number,
  late: string,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(late)), milliseconds)
  })
  try {
    return await Promise.race([(async () => work())(), patience])
  } finally {
    clearTimeout(timer)
  }
}
