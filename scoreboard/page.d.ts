import type { Report } from '@isthmus/check/internal/model.js';

export function brokenMusts(report: Pick<Report, 'findings'>): string[];
