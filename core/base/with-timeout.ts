/** What `work` comes to, or `otherwise` once so many milliseconds have passed; rejects where it does before. Keeps no timer behind. */
export async function within<Value>(
  milliseconds: number,
  work: Promise<Value>,
  otherwise: Value,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Value>(resolve => {
    timer = setTimeout(resolve, milliseconds, otherwise)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
