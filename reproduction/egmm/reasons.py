"""Why a number of ours is not the paper's, looked into one by one."""

from __future__ import annotations

ECM_IRIS = (
    "With sets of several clusters ECM cuts Iris so, and the masses are those of its R program; with single "
    "clusters alone ours has 0.89, 0.75 and 0.73, the paper's numbers."
)
ECM_COPIED = (
    "The paper's ECM column has the means of its FCM column in all eight rows. Ours has the purity and the NMI "
    "that the paper prints for ECM here, 0.70 and 0.15, and with them an ARI of 0.07."
)
EGMM_MAGIC = (
    "A plain transcription of the authors' published program ends where ours does, at 0.69, 0.10 and 0.08; with three "
    "clusters ours has 0.71, 0.11 and 0.14."
)
EGMM_ECOLI_EIGHT = (
    "It differs by 0.0204, where 0.02 is within. The start decides: of 30 starts of k-means, 0.668 ± 0.036 in the "
    "mean, five reach 0.70; 30 starts at eight random objects have 0.598 ± 0.105, and six with all sets in place of "
    "pairs 0.661 ± 0.019."
)
EGMM_IRIS = (
    "The paper's runs do not all end in the best solution (ARI 0.85 ± 0.10). Ours begin at the centers of k-means "
    "begun by k-means++: 50 of 50 such runs have an ARI of 0.92. Of 50 runs with k-means begun at random objects 39 "
    "have 0.92 and 11 have 0.45 to 0.56: purity, NMI and ARI are 0.91, 0.86 and 0.83 in the mean, the paper's within "
    "their errors."
)
EGMM_NEWTHYROID = (
    "The row repeats that of Tables 7 and 8, where the number of clusters was estimated: with three clusters a "
    "transcription of the authors' program gives 0.80, 0.34 and 0.34 as ours does, with four ours has 0.85, 0.49 "
    "and 0.50."
)
CGMM_NEWTHYROID = "With three clusters ours has the higher NMI and ARI; a purity of 0.86 comes with four clusters."
BOOT_SEEDS = (
    "Ours is at a higher maximum of the same covariance model (EEV, log-likelihood 1264): a lower one (1220) has "
    "the paper's purity of 0.89 and NMI of 0.69, and an ARI of 0.70."
)
BOOT_VEHICLE = (
    "The likelier mixture is the worse partition: of single starts those with ARI 0.13 to 0.18 have log-"
    "likelihoods of -37763 and less, ours has -37527."
)
BOOT_ECOLI = (
    "The start decides: twelve single starts of the chosen model (VVE) have a purity of 0.78 to 0.83 and an NMI of "
    "0.59 to 0.66, 0.81 and 0.62 in the mean."
)
BOOT_KNOWLEDGE = (
    "Many starts choose EEI (BIC 201; 120 where bootGMM fits it again). Few starts for each model choose EVE (BIC "
    "129), and with it the paper's numbers: 0.48, 0.25 and 0.20."
)
BOOT_NEWTHYROID_SCORES = (
    "Ours has VVI, whose BIC of -4778 is the highest. EEV begun at one merge tree has -5208, and with it the paper's "
    "numbers: 0.92, 0.67 and 0.72."
)
BOOT_WINE_SCORES = (
    "Ours is at the highest maximum of the chosen model (VVE, log-likelihood -3008). Of twelve single starts two end "
    "there, six at a lower one (-3019) with an NMI of 0.97 and an ARI of 0.98, four lower still with 0.86 to 0.88 and "
    "0.88 to 0.90."
)
BPEC_WINE = "The number of neighbors is not printed: with 8 ours has 0.56, 0.16 and 0.14, the paper's numbers."
BPEC_ECOLI = "The number of neighbors is not printed: with 100 ours has 0.77, 0.57 and 0.68."

KNOWN_WORSE: dict[str, dict[str, str]] = {
    "Purity": {
        "Ecoli/bootGMM": BOOT_ECOLI,
        "Iris/ECM": ECM_IRIS,
        "Knowledge/bootGMM": BOOT_KNOWLEDGE,
        "Magic/EGMM": EGMM_MAGIC,
        "Newthyroid/bootGMM": BOOT_NEWTHYROID_SCORES,
        "Newthyroid/CGMM": CGMM_NEWTHYROID,
        "Newthyroid/EGMM": EGMM_NEWTHYROID,
        "Seeds/bootGMM": BOOT_SEEDS,
        "Vehicle/bootGMM": BOOT_VEHICLE,
        "Wine/BPEC": BPEC_WINE,
    },
    "NMI": {
        "Ecoli/bootGMM": BOOT_ECOLI,
        "Ecoli/BPEC": BPEC_ECOLI,
        "Ecoli/EGMM": EGMM_ECOLI_EIGHT,
        "Iris/ECM": ECM_IRIS,
        "Iris/EGMM": EGMM_IRIS,
        "Knowledge/bootGMM": BOOT_KNOWLEDGE,
        "Newthyroid/bootGMM": BOOT_NEWTHYROID_SCORES,
        "Newthyroid/EGMM": EGMM_NEWTHYROID,
        "Seeds/bootGMM": BOOT_SEEDS,
        "Vehicle/bootGMM": BOOT_VEHICLE,
        "Wine/bootGMM": BOOT_WINE_SCORES,
    },
    "ARI": {
        "Ecoli/BPEC": BPEC_ECOLI,
        "Iris/ECM": ECM_IRIS,
        "Iris/EGMM": EGMM_IRIS,
        "Knowledge/bootGMM": BOOT_KNOWLEDGE,
        "Magic/EGMM": EGMM_MAGIC,
        "Newthyroid/bootGMM": BOOT_NEWTHYROID_SCORES,
        "Newthyroid/ECM": ECM_COPIED,
        "Newthyroid/EGMM": EGMM_NEWTHYROID,
        "Seeds/bootGMM": BOOT_SEEDS,
        "Vehicle/bootGMM": BOOT_VEHICLE,
        "Wine/bootGMM": BOOT_WINE_SCORES,
    },
}
# Unknown number of clusters: with the number that the paper found, ours has the paper's scores.
FCM_ECOLI = (
    "The index is best at two clusters (0.44, 0.44, 0.38 for two to four); with the paper's four: NMI 0.57, ARI 0.61."
)
FCM_IRIS = (
    "The index is best at two clusters (0.78, 0.67, 0.61, 0.58, 0.54 for two to six); with four: NMI 0.71, ARI "
    "0.63. The paper's 4.1±1.45 stands in three rows alike."
)
FCM_SEEDS = (
    "The index is best at two clusters (0.61, 0.59, 0.52, 0.47, 0.45 for two to six); with five: NMI 0.61, ARI 0.52."
)
FCM_KNOWLEDGE = "The index sees no clusters at all: 0.06 for two, 0.03 to 0.04 for three to six."
FCM_NEWTHYROID = (
    "The index is 0.44, 0.47, 0.53, 0.52, 0.47 for two to six clusters, so four; with two: ARI 0.05, as printed."
)
ECM_ECOLI = (
    "Nonspecificity is least at two clusters (0.18, 0.23, 0.30 for two to four); with the paper's four: NMI 0.59,"
    " ARI 0.63."
)
GMM_ECOLI = (
    "BIC is highest at three clusters in nine of ten runs (on average 1517, 1537, 1484 for two to four); with the"
    " paper's four: NMI 0.70, ARI 0.73, as printed."
)
EGMM_ECOLI = "EBIC is highest at three clusters in every run: 755, 775, 742 for two to four."
EGMM_ECOLI_SCORES = (
    "Ours has three clusters in every run, the paper's four. With four given, ours has NMI 0.65 and ARI 0.70; with the "
    "true eight 0.68 and 0.72, the numbers that the paper prints here."
)
EGMM_NEWTHYROID_SCORES = (
    "Ours has five clusters in most runs, the paper's three. The paper's scores are those of its Tables 11 and 12, "
    "where three are given; ours has NMI 0.33 and ARI 0.34 with three, and 0.49 and 0.50 with four."
)
EGMM_MAGIC_SCORES = (
    "Ours has six clusters in every run, the paper's 3.2 in the mean; with three given, ours has an ARI of 0.14, the "
    "paper's."
)
EGMM_KNOWLEDGE = (
    "EBIC is highest at two clusters in every run: -12, -53, -88 for two to four. The paper's scores are those of"
    " its Tables 11 and 12, where the number is given."
)
EGMM_BY_START = (
    "The start decides: EBIC is highest at five clusters in seven of ten runs, at six in two and at four in one, and "
    "on average -3029, -2959, -2900, -2803, -2812 for two to six. No run prefers the paper's three. The paper's scores "
    "are those of its Tables 11 and 12, where the number is given."
)
BOOT_NEWTHYROID = "BIC is -4777.9 for three clusters and -4773.3 for four."
BOOT_SEEDS_NUMBER = "Ours is likelier: BIC 2053.5 for four clusters and 2070.3 for five."
BOOT_KNOWLEDGE_NUMBER = "Ours is likelier: BIC 140.7 for three clusters and 201.1 for four."
BOOT_KNOWLEDGE_FOUR = (
    "Ours has four clusters, the paper's three. With three the start decides: twelve single starts of the model of the "
    "highest BIC (VEI) have an NMI of 0.03 to 0.54 and an ARI of 0.02 to 0.42."
)
BOOT_NEWTHYROID_FOUR = (
    "Ours has four clusters, the paper's three. The paper's scores are those of its Tables 11 and 12, where three are "
    "given; ours has 0.82 and 0.89 there."
)
BOOT_SEEDS_FIVE = "Ours has five clusters, the paper's four; with four our mixture (VEV) has an ARI of 0.55."
BOOT_VEHICLE_SIX = (
    "The start decides. The mixture by which number and model (EVV) were chosen has an NMI of 0.35 and an ARI of 0.23, "
    "near the paper's; twelve single starts of that model have 0.17 to 0.32 and 0.11 to 0.20."
)
MAGIC = (
    "The index still improves from five clusters to six (for GMM in two runs of three), so the largest number that was "
    "tried is taken."
)
BPEC_MAGIC = "The paper's user saw four peaks, our rule of the widest gap sees five."
BOOT_WINE = (
    "The paper's 0.95 and 0.97 are those of its Tables 11 and 12, for three clusters; it says four here, as we find."
)
BPEC_KNOWLEDGE = (
    "The paper's user saw three peaks, our rule of the widest gap sees two; with 30 neighbors and three: NMI "
    "0.18, ARI 0.12."
)
BPEC_VEHICLE = "The paper's user saw four peaks, our rule of the widest gap sees two; with four: NMI 0.12, ARI 0.09."

UNKNOWN_WORSE: dict[str, dict[str, str]] = {
    "NMI": {
        "Ecoli/ECM": ECM_ECOLI,
        "Ecoli/EGMM": EGMM_ECOLI_SCORES,
        "Ecoli/FCM": FCM_ECOLI,
        "Ecoli/GMM": GMM_ECOLI,
        "Knowledge/bootGMM": BOOT_KNOWLEDGE_FOUR,
        "Knowledge/BPEC": BPEC_KNOWLEDGE,
        "Knowledge/EGMM": EGMM_KNOWLEDGE,
        "Newthyroid/bootGMM": BOOT_NEWTHYROID_FOUR,
        "Newthyroid/EGMM": EGMM_NEWTHYROID_SCORES,
        "Seeds/FCM": FCM_SEEDS,
        "Vehicle/bootGMM": BOOT_VEHICLE_SIX,
        "Vehicle/BPEC": BPEC_VEHICLE,
        "Wine/bootGMM": BOOT_WINE,
    },
    "ARI": {
        "Ecoli/ECM": ECM_ECOLI,
        "Ecoli/EGMM": EGMM_ECOLI_SCORES,
        "Ecoli/FCM": FCM_ECOLI,
        "Ecoli/GMM": GMM_ECOLI,
        "Iris/FCM": FCM_IRIS,
        "Knowledge/bootGMM": BOOT_KNOWLEDGE_FOUR,
        "Knowledge/BPEC": BPEC_KNOWLEDGE,
        "Magic/EGMM": EGMM_MAGIC_SCORES,
        "Newthyroid/bootGMM": BOOT_NEWTHYROID_FOUR,
        "Newthyroid/EGMM": EGMM_NEWTHYROID_SCORES,
        "Seeds/bootGMM": BOOT_SEEDS_FIVE,
        "Seeds/FCM": FCM_SEEDS,
        "Vehicle/bootGMM": BOOT_VEHICLE_SIX,
        "Vehicle/BPEC": BPEC_VEHICLE,
        "Wine/bootGMM": BOOT_WINE,
    },
}
NUMBER_WORSE: dict[str, str] = {
    "Ecoli/FCM": FCM_ECOLI,
    "Ecoli/ECM": ECM_ECOLI,
    "Ecoli/GMM": GMM_ECOLI,
    "Ecoli/EGMM": EGMM_ECOLI,
    "Knowledge/FCM": FCM_KNOWLEDGE,
    "Knowledge/BPEC": BPEC_KNOWLEDGE,
    "Knowledge/bootGMM": BOOT_KNOWLEDGE_NUMBER,
    "Knowledge/EGMM": EGMM_KNOWLEDGE,
    "Magic/ECM": MAGIC,
    "Magic/BPEC": BPEC_MAGIC,
    "Magic/GMM": MAGIC,
    "Magic/CGMM": MAGIC,
    "Magic/EGMM": MAGIC,
    "Newthyroid/FCM": FCM_NEWTHYROID,
    "Newthyroid/bootGMM": BOOT_NEWTHYROID,
    "Newthyroid/EGMM": EGMM_BY_START,
    "Seeds/bootGMM": BOOT_SEEDS_NUMBER,
    "Vehicle/BPEC": BPEC_VEHICLE,
}
