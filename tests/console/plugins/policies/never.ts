import { definePolicy } from 'plinth'

/** Refuses everybody. */
export default definePolicy({ check: () => false })
