import type { Report } from '../src/check/model.js';

export function brokenMusts(report: Pick<Report, 'findings'>): string[];
