import { type Habit, refused, type Takes } from './habit.js';

/** Logging in is not done here. */
export function noOAuth(option: string, takes: Takes): Habit {
  return refused(`--${option}: ${NO_OAUTH}`, OAUTH_HINT, takes);
}

export const NO_OAUTH = 'Isthmus does not log in by OAuth, it sends the headers that it is given';
export const OAUTH_HINT =
  'Get a token elsewhere, and pass it on: --header "Authorization: Bearer $TOKEN", or --header-file FILE';
